package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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

  /** Whether the row reaches it; null if that is not known. */
  @Nullable Boolean of(VerdictRow row) {
    return switch (this) {
      case CALLED -> row.called();
      case CORRECT -> row.status() == Status.CORRECT;
      case GENERAL -> row.general();
      case FASTER -> faster(row);
    };
  }

  private static @Nullable Boolean faster(VerdictRow row) {
    if (row.status() != Status.CORRECT) return false;
    return row.speedup() == null ? null : row.speedup().value() > 1;
  }

  /** Why no row of the run has it; null if the run measured it. */
  @Nullable String unmeasured(JudgedRun run) {
    Stage needed = this == CALLED ? Stage.CALL : Stage.CORRECT;
    if (!run.run().stages().contains(needed)) {
      return "the %s stage was not asked for".formatted(needed.label());
    }
    return this == FASTER && !run.hasSpeedup() ? run.noSpeedup() : null;
  }

  /** Why it was not measured in one of the runs; null if it was in all. */
  @Nullable String unmeasuredIn(List<AskedRun> runs) {
    return runs.stream()
        .map(run -> unmeasured(run.judged()))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** As in files: {@code called, …}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
