package dev.kbx.report;

import dev.kbx.analysis.Grades;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
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
  static List<Note> of(RunInfo run, List<VerdictRow> rows, Tally tally) {
    List<Note> notes = new ArrayList<>();
    add(notes, "not-measured", perf(run, tally));
    add(notes, "scaled", scaled(rows));
    // A file of a variant that was named is what was asked about.
    if (!run.ofFiles()) add(notes, "extra", extra(tally.extra(rows), tally.asked().total()));
    add(notes, "tolerance", tolerance(run));
    add(notes, "policy", policy(rows));
    add(notes, "grades", grades(run, rows));
    add(notes, "no-baseline", baseline(run, rows));
    add(notes, "no-kernel", noKernel(rows));
    return notes;
  }

  private static void add(List<Note> notes, String id, @Nullable String text) {
    if (text != null) notes.add(new Note(id, text));
  }

  /** A verdict's flags that no sentence about the run makes superfluous. */
  static List<String> flags(Verdict verdict) {
    return verdict.flags().stream().filter(flag -> !OF_RUNS.contains(flag)).toList();
  }

  /**
   * How many candidates are in no rate; null where all are.
   *
   * @param tasks published ones that were asked for
   */
  static @Nullable String extra(int candidates, int tasks) {
    if (candidates == 0) return null;
    return "%s outside the %s; not counted."
        .formatted(
            candidates == 1
                ? "1 candidate is for a dtype variant"
                : "%,d candidates are for dtype variants".formatted(candidates),
            Counted.of(tasks, "published task"));
  }

  private static @Nullable String tolerance(RunInfo run) {
    if (run.tolerance().equals("model")) return null;
    return "Results were held to the published tolerances, not to the error model.";
  }

  /** How many results are right and refused because of who computed them; null where none is. */
  private static @Nullable String policy(List<VerdictRow> rows) {
    long refused = rows.stream().filter(r -> r.valuesOk() && r.againstPolicy()).count();
    if (refused == 0) return null;
    long right = rows.stream().filter(VerdictRow::valuesOk).count();
    return "%d of %s correct by the published rules, which do not ask who computes; %d of them not by a kernel of their own."
        .formatted(right, Counted.of(rows.size(), "candidate"), refused);
  }

  /** Both rates by name, whichever decides; null where they are the same. */
  private static @Nullable String grades(RunInfo run, List<VerdictRow> rows) {
    Grades grades = Grades.of(rows);
    if (grades.judged() == 0 || grades.published() == grades.general()) {
      return run.grade().equals("general") ? null : "Judged at the published grade.";
    }
    String rates =
        "Right values: %d of %d at the published grade, %d at the general grade; this run is judged at the %s grade."
            .formatted(grades.published(), grades.judged(), grades.general(), run.grade());
    return grades.breaks().isEmpty() ? rates : rates + " What breaks: " + grades.described() + ".";
  }

  /** How many correct results PyTorch computed without any kernel of the candidate. */
  private static @Nullable String noKernel(List<VerdictRow> rows) {
    List<VerdictRow> correct = rows.stream().filter(r -> r.status() == Status.CORRECT).toList();
    long without =
        correct.stream().filter(r -> r.kernelShare() != null && r.kernelShare() == 0).count();
    if (without == 0) return null;
    return "No kernel of its own made the results of %d of %s: PyTorch computed them."
        .formatted(without, Counted.of(correct.size(), "correct candidate"));
  }

  /** How many were timed and have no speedup, as their tasks do not have the baseline asked for. */
  private static @Nullable String baseline(RunInfo run, List<VerdictRow> rows) {
    List<VerdictRow> timed = rows.stream().filter(r -> !r.baselines().isEmpty()).toList();
    long without = timed.stream().filter(r -> r.speedup() == null).count();
    if (without == 0) return null;
    return "%d of %d timed candidates have no speedup: no baseline %s for their tasks."
        .formatted(without, timed.size(), run.baseline());
  }

  /**
   * How many were judged on less than their tasks are about; null where none was. A task's
   * published size may need a GPU.
   */
  static @Nullable String scaled(List<VerdictRow> rows) {
    int scaled = Tally.scaled(rows);
    if (scaled == 0) return null;
    return "Judged on scaled inputs, not on the published sizes, which need a GPU: %d of %s."
        .formatted(scaled, Counted.of(rows.size(), "candidate"));
  }

  /** How many of the files that were named are correct, and how many say nothing. */
  static String correct(List<VerdictRow> rows) {
    long correct = rows.stream().filter(r -> r.status() == Status.CORRECT).count();
    long unknown = rows.stream().filter(r -> !r.judged()).count();
    return "%d of %d correct".formatted(correct, rows.size())
        + (unknown == 0 ? "" : ", %d not judged (the task or kbx failed)".formatted(unknown));
  }

  /** What to say in place of a rate that is null. */
  static String unknown(Tally.Passes passes) {
    boolean none = passes.notJudged() > 0 && passes.notJudged() == passes.candidates();
    return none ? "none judged" : "not measured";
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
