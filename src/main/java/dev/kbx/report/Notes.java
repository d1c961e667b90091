package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sentences about a run that several outputs share. */
final class Notes {
  /** Flags of every verdict of a run, about which there is a sentence. */
  private static final Set<String> OF_RUNS = Set.of("scaled_inputs", "published_tolerance");

  private Notes() {}

  /**
   * One sentence.
   *
   * @param id what it is about, of letters and hyphens
   */
  record Note(String id, String text) {}

  /** All that there is to say, in order. */
  static List<Note> of(RunInfo run, List<Verdict> verdicts, Tally tally) {
    List<Note> notes = new ArrayList<>();
    add(notes, "not-measured", perf(run, tally));
    add(notes, "scaled", scaled(verdicts));
    add(notes, "extra", extra(tally.extra(verdicts)));
    add(notes, "tolerance", tolerance(run));
    add(notes, "no-baseline", baseline(run, verdicts));
    add(notes, "no-kernel", noKernel(verdicts));
    return notes;
  }

  private static void add(List<Note> notes, String id, @Nullable String text) {
    if (text != null) notes.add(new Note(id, text));
  }

  /** A verdict's flags that no sentence about the run makes superfluous. */
  static List<String> flags(Verdict verdict) {
    return verdict.flags().stream().filter(flag -> !OF_RUNS.contains(flag)).toList();
  }

  /** How many of so many candidates are in no rate; null where all are. */
  static @Nullable String extra(int candidates) {
    if (candidates == 0) return null;
    return "%s for dtype variants outside the published tasks; not counted."
        .formatted(candidates == 1 ? "1 candidate is" : candidates + " candidates are");
  }

  private static @Nullable String tolerance(RunInfo run) {
    if (run.tolerance().equals("model")) return null;
    return "Results were held to the published tolerances, not to the error model.";
  }

  /** How many results that are right PyTorch computed all by itself. */
  private static @Nullable String noKernel(List<Verdict> verdicts) {
    List<Verdict> correct = verdicts.stream().filter(v -> v.status() == Status.CORRECT).toList();
    long without =
        correct.stream().filter(v -> v.origin() != null && v.origin().kernelShare() == 0).count();
    if (without == 0) return null;
    return "No kernel of its own made the results of %d of %s: PyTorch computed them."
        .formatted(without, Counted.of(correct.size(), "correct candidate"));
  }

  /**
   * How many were timed and have no speedup, since what they were to be held against is not there.
   */
  private static @Nullable String baseline(RunInfo run, List<Verdict> verdicts) {
    List<Verdict> timed = verdicts.stream().filter(v -> v.baselines() != null).toList();
    long without = timed.stream().filter(v -> v.speedup() == null).count();
    if (without == 0) return null;
    return "%d of %d timed candidates have no speedup: no baseline %s for their tasks."
        .formatted(without, timed.size(), run.baseline());
  }

  /**
   * How many were judged on less than their tasks are about; null where none was. A task's
   * published size may need a GPU.
   */
  static @Nullable String scaled(List<Verdict> verdicts) {
    int scaled = countScaled(verdicts);
    if (scaled == 0) return null;
    return "Judged on scaled inputs, not on the published sizes, which need a GPU: %d of %s."
        .formatted(scaled, Counted.of(verdicts.size(), "candidate"));
  }

  static int countScaled(List<Verdict> verdicts) {
    long scaled = verdicts.stream().filter(v -> v.flags().contains("scaled_inputs")).count();
    return Math.toIntExact(scaled);
  }

  /** That performance was not measured, and why; null where it was. */
  static @Nullable String perf(RunInfo run, Tally tally) {
    if (tally.perf()) return null;
    if (run.stages().getLast() == Stage.STATIC) {
      return "Nothing was run: of the stages only static was asked for, and correct means that it"
          + " found nothing.";
    }
    if (!run.stages().contains(Stage.PERF)) {
      return "Performance was not measured: the perf stage was not asked for.";
    }
    return "Performance was not measured: this run used no GPU.";
  }
}
