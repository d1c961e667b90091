package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Stage;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a candidate can reach; each is a yes or no, or unknown. */
public enum Outcome {
  /** Loads, compiles and returns from its calls. */
  CALLED,
  /** Is correct. */
  CORRECT,
  /** Is correct at the general grade. */
  GENERAL,
  /** Is correct and faster than the run's baseline. */
  FASTER;

  /** Why nothing is known of published results at kbx's general grade. */
  static final String NOT_PUBLISHED = "published results do not say";

  /** Whether the row reaches it; null if that is not known. */
  @Nullable Boolean of(VerdictRow row) {
    return switch (this) {
      case CALLED -> row.called();
      case CORRECT -> row.correct();
      case GENERAL -> row.general();
      case FASTER -> faster(row);
    };
  }

  private static @Nullable Boolean faster(VerdictRow row) {
    if (!row.correct()) return false;
    return row.speedup() == null ? null : row.speedup().value() > 1;
  }

  /** Why no row of the run has it; null if the run measured it. */
  @Nullable String unmeasured(JudgedRun run) {
    Stage needed = this == CALLED ? Stage.CALL : Stage.CORRECT;
    if (!run.run().stages().contains(needed)) {
      return "the %s stage was not asked for".formatted(needed.label());
    }
    if (this == GENERAL && run.run().published() != null) return NOT_PUBLISHED;
    return this == FASTER && !run.hasSpeedup() ? run.noSpeedup() : null;
  }

  /**
   * Why it was not measured in one of the runs, or not alike in all; null if it was. Faster than
   * eager is another outcome than faster than compiled code.
   */
  @Nullable String unmeasuredIn(SelectedRuns runs) {
    for (SelectedRun run : runs.runs()) {
      String why = unmeasured(run.judged());
      if (why != null) return why;
    }
    List<String> baselines = this == FASTER ? baselines(runs.runs()) : List.of();
    return baselines.size() < 2
        ? null
        : "speedups are against different baselines, %s; judge again against one"
            .formatted(String.join(" and ", baselines));
  }

  /** What the speedups of the runs are against. */
  static List<String> baselines(List<SelectedRun> runs) {
    Set<String> words = new HashSet<>();
    for (SelectedRun run : runs) {
      for (VerdictRow row : run.judged().rows()) {
        if (row.speedup() != null) words.add(row.speedup().baseline());
      }
    }
    return words.stream()
        .map(each -> Against.of(each).ofAnyTask().toString())
        .distinct()
        .sorted()
        .toList();
  }

  /** The name in files: {@code called, …}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
