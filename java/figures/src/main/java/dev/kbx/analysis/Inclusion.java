package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which candidates an analysis of one or several runs counts, and how many it leaves out.
 *
 * @param runs ids, as named
 * @param devices names of the devices of the counted candidates
 * @param candidates number of counted candidates
 * @param tasks number of their tasks
 * @param asked number of tasks that were asked for
 * @param grades at which their correct ones are correct, or {@code as published}, by name; several
 *     are different measures
 * @param ofChanges whether they are {@linkplain dev.kbx.verdict.RunInfo.Published#ofChanges
 *     published changes alone}: then nothing is a share of the tasks
 * @param baselines what the speedups of the runs are against, by name; several are not compared
 * @param made the counted ones by method and model
 */
@JsonPropertyOrder({"runs", "suite", "devices", "candidates", "tasks", "asked", "left_out"})
public record Inclusion(
    List<String> runs,
    String suite,
    List<String> devices,
    int candidates,
    int tasks,
    int asked,
    @JsonUnwrapped LeftOut leftOut,
    List<String> grades,
    boolean ofChanges,
    List<String> baselines,
    List<Made> made) {

  /**
   * How many candidates are left out, and why.
   *
   * @param notJudged as kbx or the task failed
   * @param variants as they are on variants of published tasks
   * @param repeated as another run has the same candidate on the same device
   * @param earlierRounds as a later round of the same attempt counts
   */
  public record LeftOut(int notJudged, int variants, int repeated, int earlierRounds) {
    /** All of them. */
    public int all() {
      return notJudged + variants + repeated + earlierRounds;
    }
  }

  /**
   * The counted candidates of one method and model.
   *
   * @param method null if not stated, as is {@code model}
   * @param samples the most candidates that one task has
   * @param lastRound the latest round; null if none is stated
   */
  public record Made(
      @Nullable String method,
      @Nullable String model,
      int candidates,
      int tasks,
      int samples,
      @Nullable Integer lastRound) {
    /** Mean number of candidates of a task. */
    public double perTask() {
      return (double) candidates / tasks;
    }
  }

  /** Whether some task has several candidates of one method and model. */
  public boolean hasSamples() {
    return made.stream().anyMatch(each -> each.samples() > 1);
  }
}
