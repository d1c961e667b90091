package dev.kbx.corpus;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.verdict.Verdict.Device;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The corpus, judged on one device.
 *
 * @param trials in the order of their paths
 */
@JsonPropertyOrder({"device", "versions", "trials"})
public record Trials(Device device, Map<String, String> versions, List<Trial> trials) {
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

  /** Cheats called correct with static rules off, on no merit of their own. */
  public long accepted() {
    return trials.stream().filter(Trial::accepted).count();
  }

  /** Of those, the ones that no static rule rejects: these get through. */
  public long through() {
    return trials.stream().filter(t -> t.accepted() && t.rejectedBy().isEmpty()).count();
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
    return trials.stream().filter(t -> !t.problems().isEmpty()).toList();
  }

  private long count(Trial.Kind kind) {
    return trials.stream().filter(t -> t.kind() == kind).count();
  }
}
