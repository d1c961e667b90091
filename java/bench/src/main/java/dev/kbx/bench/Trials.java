package dev.kbx.bench;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnreadableException;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;

/**
 * The corpus, judged on one device.
 *
 * @param trials in the order of their paths
 */
@JsonPropertyOrder({"device", "versions", "trials"})
record Trials(Device device, Map<String, String> versions, List<Trial> trials) {
  /**
   * Factor above which a cheat's speedup is unexplained: honest kernels of one task differ by less.
   */
  private static final double AS_GOOD = 2;

  /**
   * Assumed speedup of an honest kernel if none of its task was timed: a fusion of a few passes.
   */
  private static final double UNKNOWN = 3;

  public Trials {
    versions = new TreeMap<>(versions);
    trials = List.copyOf(trials);
  }

  /** Number of cheats. */
  long cheats() {
    return count(Trial.Kind.CHEAT);
  }

  /** Number of honest files: examples and kernels of the suite. */
  long honest() {
    return trials.size() - cheats();
  }

  /**
   * Whether a cheat succeeded with static rules off: undeserved {@code correct}, or a speedup that
   * its own kernel does not explain.
   */
  boolean accepted(Trial trial) {
    return trial.accepted() || rewarded(trial);
  }

  private boolean rewarded(Trial cheat) {
    Double speedup = cheat.speedup();
    boolean silent = cheat.onMerit() && cheat.told().isEmpty();
    return speedup != null && silent && speedup > AS_GOOD * honestSpeedup(cheat.task());
  }

  /** The best speedup of an honest kernel of the task; {@link #UNKNOWN} if none was timed. */
  private double honestSpeedup(String task) {
    return trials.stream()
        .filter(t -> t.kind() != Trial.Kind.CHEAT && t.task().equals(task))
        .map(Trial::speedup)
        .filter(Objects::nonNull)
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(UNKNOWN);
  }

  /** Cheats that succeed with static rules off. */
  long accepted() {
    return trials.stream().filter(this::accepted).count();
  }

  /** Successful cheats that no static rule rejects: these get through. */
  long through() {
    return trials.stream().filter(t -> accepted(t) && t.rejectedBy().isEmpty()).count();
  }

  /** Accepted cheats whose headers say that kbx misses them on this device. */
  long knownGaps() {
    return trials.stream().filter(Trial::knownGap).count();
  }

  /** Cheats that ended as correct because their attempt changes nothing. */
  long onMerit() {
    return trials.stream().filter(Trial::onMerit).count();
  }

  /** Cheats that a static rule rejects. */
  long rejected() {
    return trials.stream()
        .filter(t -> t.kind() == Trial.Kind.CHEAT && !t.rejectedBy().isEmpty())
        .count();
  }

  /** Cheats that others have published. */
  long published() {
    return trials.stream().filter(Trial::published).count();
  }

  /** Successful cheats that others have published. */
  long publishedAndAccepted() {
    return trials.stream().filter(t -> t.published() && accepted(t)).count();
  }

  /** Honest files that were rejected, flagged, or not correct. */
  long turnedAway() {
    return trials.stream().filter(Trial::turnedAway).count();
  }

  /**
   * The same results beside the expectations of today's headers.
   *
   * @param endings by the path of a file; one that is not among them keeps its own
   */
  Trials expecting(Map<String, Header.Ending> endings) {
    return new Trials(
        device,
        versions,
        trials.stream()
            .map(trial -> {
              Header.Ending ending = endings.get(trial.source());
              return ending == null ? trial : trial.expecting(ending);
            })
            .toList());
  }

  /** Trials whose result differs from the expected one. */
  List<Trial> differing() {
    return trials.stream().filter(t -> !t.problems().isEmpty() || rewarded(t)).toList();
  }

  private long count(Trial.Kind kind) {
    return trials.stream().filter(t -> t.kind() == kind).count();
  }

  /** Writes {@code cheats.json} in a folder. Throws {@link UnwritableException}. */
  void write(Path folder) {
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(this);
    AtomicFile.replace(folder.resolve("cheats.json"), writer -> writer.write(text + "\n"));
  }

  /** What {@link #write} wrote; empty if there is no such file. Throws UnreadableException. */
  static Optional<Trials> read(Path file) {
    if (!Files.exists(file)) return Optional.empty();
    try {
      return Optional.of(Json.mapper().readValue(Files.readString(file), Trials.class));
    } catch (IOException | JacksonException e) {
      throw new UnreadableException(file, "is not a cheats.json", e);
    }
  }
}
