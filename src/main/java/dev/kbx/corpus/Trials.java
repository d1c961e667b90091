package dev.kbx.corpus;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.verdict.Verdict.Device;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The corpus, judged on one device.
 *
 * @param trials in the order of their paths
 */
@JsonPropertyOrder({"device", "versions", "trials"})
public record Trials(Device device, Map<String, String> versions, List<Trial> trials) {
  /** Two honest kernels of one task differ by less, save for luck with an autotuner. */
  private static final double AS_GOOD = 2;

  /** What an honest kernel may reach where none of its task was timed: a fusion of a few passes. */
  private static final double UNKNOWN = 3;

  public Trials {
    versions = new TreeMap<>(versions);
    trials = List.copyOf(trials);
  }

  /** How many cheats there are. */
  public long cheats() {
    return count(Trial.Kind.CHEAT);
  }

  /** How many honest files there are: examples and kernels of the suite. */
  public long honest() {
    return trials.size() - cheats();
  }

  /**
   * Whether a cheat got with static rules off what it has not earned: {@code correct}, or a speedup
   * that its own kernel does not explain.
   */
  public boolean accepted(Trial trial) {
    return trial.accepted() || rewarded(trial);
  }

  private boolean rewarded(Trial cheat) {
    Double speedup = cheat.speedup();
    boolean silent = cheat.onMerit() && cheat.told().isEmpty();
    return speedup != null && silent && speedup > AS_GOOD * honestSpeedup(cheat.task());
  }

  /** The best that an honest kernel of the task got here; a guess where none was timed. */
  private double honestSpeedup(String task) {
    return trials.stream()
        .filter(t -> t.kind() != Trial.Kind.CHEAT && t.task().equals(task))
        .map(Trial::speedup)
        .filter(Objects::nonNull)
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(UNKNOWN);
  }

  /** Cheats that get what they have not earned with static rules off. */
  public long accepted() {
    return trials.stream().filter(this::accepted).count();
  }

  /** Of those, the ones that no static rule rejects: these get through. */
  public long through() {
    return trials.stream().filter(t -> accepted(t) && t.rejectedBy().isEmpty()).count();
  }

  /** Cheats whose attempt changes nothing, and that may be called correct. */
  public long onMerit() {
    return trials.stream().filter(Trial::onMerit).count();
  }

  /** Cheats that a static rule rejects. */
  public long rejected() {
    return trials.stream()
        .filter(t -> t.kind() == Trial.Kind.CHEAT && !t.rejectedBy().isEmpty())
        .count();
  }

  /** Honest files that were rejected, flagged, or not called correct. */
  public long turnedAway() {
    return trials.stream().filter(Trial::turnedAway).count();
  }

  /** Those that were not judged as they must be. */
  public List<Trial> differing() {
    return trials.stream().filter(t -> !t.problems().isEmpty() || rewarded(t)).toList();
  }

  private long count(Trial.Kind kind) {
    return trials.stream().filter(t -> t.kind() == kind).count();
  }
}
