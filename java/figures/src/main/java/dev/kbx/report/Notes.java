package dev.kbx.report;

import dev.kbx.analysis.Grades;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Counted;
import dev.kbx.section.Captions;
import dev.kbx.section.SeriesSection;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Sentences about a run that several outputs share. */
final class Notes {
  /** Flags common to all verdicts of a run, for which there is a sentence. */
  private static final Set<String> OF_RUNS = Set.of("scaled_inputs", "published_tolerance");

  private static final double MOST = 0.5;

  private Notes() {}

  /**
   * One sentence.
   *
   * @param id its subject, in letters and hyphens
   */
  record Note(String id, String text) {}

  /** All sentences about a run, in order. */
  static List<Note> of(RunInfo run, List<VerdictRow> rows, Tally tally) {
    List<Note> notes = new ArrayList<>();
    add(notes, "as-published", asPublished(run));
    add(notes, "not-measured", perf(run, tally));
    add(notes, "scaled", scaled(rows));
    // Named files of variants were requested.
    if (!run.ofFiles())
      add(notes, "extra", SeriesSection.extra(tally.extra(rows), tally.asked().total()));
    add(notes, "tolerance", tolerance(run));
    add(notes, "memory", memory(run));
    add(notes, "precision", precision(run));
    add(notes, "policy", uncompared(run) ? null : published(rows));
    add(notes, "grades", grades(run, rows));
    add(notes, "no-baseline", baseline(run, rows));
    add(notes, "no-kernel", noKernel(rows));
    add(notes, "unproven", unproven(rows));
    return notes;
  }

  /** The note that these are results of others; null for a run of kbx. */
  static @Nullable String asPublished(RunInfo run) {
    RunInfo.Published published = run.published();
    if (published == null) return null;
    return "As published (%s): kbx has judged none of these results; speedups are those recorded, without intervals.%s%s"
        .formatted(published.format(), Captions.leftOut(published), noRates(published));
  }

  private static String noRates(RunInfo.Published published) {
    return published.ofChanges() ? " No rates, as %s.".formatted(RunInfo.Published.NO_RATES) : "";
  }

  private static void add(List<Note> notes, String id, @Nullable String text) {
    if (text != null) notes.add(new Note(id, text));
  }

  /** A verdict's flags without those that a sentence about the run covers. */
  static List<String> flags(Verdict verdict) {
    return verdict.judgement().flags().stream().filter(flag -> !OF_RUNS.contains(flag)).toList();
  }

  private static @Nullable String tolerance(RunInfo run) {
    if (run.tolerance().equals("model") || run.published() != null) return null;
    return "Results were held to the published tolerances, not to the error model.";
  }

  private static @Nullable String memory(RunInfo run) {
    RunInfo.Settings settings = run.settings();
    if (settings == null || !Boolean.FALSE.equals(settings.memoryChecks())) return null;
    return "What kernels do to memory did not decide: --memory-checks off.";
  }

  private static @Nullable String precision(RunInfo run) {
    if (run.precision().equals("fp32")) return null;
    return "Judged in %s: weights and floating-point inputs were cast, in reference and candidate."
        .formatted(run.precision());
  }

  /** How the published rules differ from kbx's in what is correct; null if nowhere. */
  private static @Nullable String published(List<VerdictRow> rows) {
    List<String> differences = new ArrayList<>();
    count(
        differences,
        rows,
        VerdictRow::refusedByPolicy,
        "whose own kernels did not compute the result");
    count(differences, rows, VerdictRow::wrongByOwnRules, "by its own, stricter rules");
    count(
        differences, rows, VerdictRow::endedWhileTimed, "for what was found while they were timed");
    long stricter = rows.stream().filter(row -> row.correct() && !row.valuesOk()).count();
    if (differences.isEmpty() && stricter == 0) return null;
    long right = rows.stream().filter(VerdictRow::valuesOk).count();
    String text =
        "By the published rules %d of %s would be correct."
            .formatted(right, Counted.of(rows.size(), "candidate"));
    if (!differences.isEmpty())
      text += " kbx refuses %s.".formatted(String.join(", ", differences));
    return stricter == 0
        ? text
        : text + " By kbx's rules alone %d more would be.".formatted(stricter);
  }

  private static void count(
      List<String> differences,
      List<VerdictRow> rows,
      Predicate<VerdictRow> different,
      String words) {
    long found = rows.stream().filter(different).count();
    if (found > 0) differences.add(found + " " + words);
  }

  /** The rates of both grades; null if they are equal. */
  private static @Nullable String grades(RunInfo run, List<VerdictRow> rows) {
    if (run.published() != null || uncompared(run)) return null;
    Grades grades = Grades.of(rows);
    if (grades.judged() == 0 || grades.published() == grades.general()) {
      return "Judged at the %s grade%s.".formatted(run.grade(), by(run));
    }
    String rates =
        "Right values: %d of %d at the published grade, %d at the general grade; this run is judged at the %s grade%s."
            .formatted(grades.published(), grades.judged(), grades.general(), run.grade(), by(run));
    return grades.breaks().isEmpty() ? rates : rates + " What breaks: " + grades.described() + ".";
  }

  private static String by(RunInfo run) {
    return run.policy() == null ? "" : ", policy " + run.policy();
  }

  /** Number of correct candidates whose results are for the most part the work of others. */
  private static @Nullable String noKernel(List<VerdictRow> rows) {
    List<VerdictRow> correct = rows.stream().filter(VerdictRow::correct).toList();
    long without =
        correct.stream().filter(r -> r.kernelShare() != null && r.kernelShare() < MOST).count();
    if (without == 0) return null;
    return "Kernels of their own made less than half of the results of %d of %s: others did the rest."
        .formatted(without, Counted.of(correct.size(), "correct candidate"));
  }

  /** Number of correct candidates whose calls could not be made again without them. */
  private static @Nullable String unproven(List<VerdictRow> rows) {
    List<VerdictRow> correct = rows.stream().filter(VerdictRow::correct).toList();
    long unproven = correct.stream().filter(VerdictRow::unproven).count();
    if (unproven == 0) return null;
    return "Of %d of %s only their own process says who computed (unproven_origin)."
        .formatted(unproven, Counted.of(correct.size(), "correct candidate"));
  }

  /** Number of timed candidates without a speedup, as their tasks lack the requested baseline. */
  private static @Nullable String baseline(RunInfo run, List<VerdictRow> rows) {
    List<VerdictRow> timed = rows.stream().filter(r -> !r.baselines().isEmpty()).toList();
    long without = timed.stream().filter(r -> r.speedup() == null).count();
    if (without == 0) return null;
    return "%d of %d timed candidates have no speedup: no baseline %s for their tasks."
        .formatted(without, timed.size(), run.baseline());
  }

  /**
   * Number of candidates judged on smaller inputs than published, which may need a GPU; null if
   * there are none.
   */
  static @Nullable String scaled(List<VerdictRow> rows) {
    int scaled = Tally.scaled(rows);
    if (scaled == 0) return null;
    return "Judged on scaled inputs, not on the published sizes, which need a GPU: %d of %s."
        .formatted(scaled, Counted.of(rows.size(), "candidate"));
  }

  /** Whether results were not compared with those of references, so that none is known right. */
  static boolean uncompared(RunInfo run) {
    return run.published() == null && !run.stages().contains(Stage.CORRECT);
  }

  /** Number of named files that are correct, and of those without a result. */
  static String correct(RunInfo run, List<VerdictRow> rows) {
    long correct = rows.stream().filter(VerdictRow::correct).count();
    long unknown = rows.stream().filter(r -> !r.judged()).count();
    String what = uncompared(run) ? "passed the stages asked for" : "correct";
    return "%d of %d %s".formatted(correct, rows.size(), what)
        + (unknown == 0 ? "" : ", %d not judged (the task or kbx failed)".formatted(unknown));
  }

  /** The note that performance was not measured, and why; null if it was. */
  static @Nullable String perf(RunInfo run, Tally tally) {
    if (tally.perf() || run.ofChanges()) return null;
    if (run.published() != null) return "No speedups are published.";
    if (run.stages().getLast() == Stage.STATIC) {
      return "Nothing was run: of the stages only static was asked for, and correct means that it"
          + " found nothing.";
    }
    if (uncompared(run)) {
      return "Results were not compared: the correct stage was not asked for; correct means that"
          + " nothing failed before.";
    }
    if (!run.stages().contains(Stage.PERF)) {
      return "Performance was not measured: the perf stage was not asked for.";
    }
    return "Performance was not measured: this run used no GPU.";
  }
}
