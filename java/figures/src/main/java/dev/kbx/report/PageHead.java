package dev.kbx.report;

import dev.kbx.analysis.Tally;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Cell;
import dev.kbx.document.Counted;
import dev.kbx.section.RatesSection;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The head of a run's page as markup: what it is about, and what was measured with what. */
record PageHead(
    RunInfo run, Tally tally, List<VerdictRow> rows, @Nullable MethodsReport methods, int makers) {
  /** The heading. */
  String headline() {
    if (methods != null) return methodsHeadline(TrajectoryRates.of(methods.rows()));
    if (run.ofFiles()) return filesHeadline();
    if (makers > 1) {
      return "%d methods and models at %s"
          .formatted(makers, Counted.of(tally.asked().total(), "task"));
    }
    Rate correct = tally.tasks("", rows).correct();
    if (correct == null) return RatesSection.counted(rows.size(), run);
    return "%d of %d tasks have a correct candidate".formatted(correct.passes(), correct.total());
  }

  private String methodsHeadline(List<TrajectoryRates> rates) {
    if (rates.size() != 1) {
      return "%s at %s"
          .formatted(Counted.of(rates.size(), "method"), Counted.of(tally.asked().total(), "task"));
    }
    TrajectoryRates only = rates.getFirst();
    String tasks = Counted.of(only.tasks(), "task");
    return Html.escape(
        only.solved() == null
            ? "%s at %s, not judged".formatted(only.method(), tasks)
            : "%s solves %d of %s".formatted(only.method(), only.solved(), tasks));
  }

  private String filesHeadline() {
    if (rows.size() == 1 && !(Notes.uncompared(run) && rows.getFirst().correct())) {
      VerdictRow only = rows.getFirst();
      return Html.escape(only.path() + ": " + only.status().label());
    }
    return Notes.correct(run, rows);
  }

  private String coverage() {
    return "%s for %d of %s"
        .formatted(
            Counted.of(tally.counted(rows).size(), "candidate"),
            tally.submitted(rows),
            Counted.of(tally.asked().total(), "task"));
  }

  void facts(Writer writer) throws IOException {
    var device = run.device();
    Html.fact(writer, "Suite", run.suite() + (run.tasks().equals("*") ? "" : ", " + run.tasks()));
    if (!run.ofFiles()) Html.fact(writer, "Coverage", coverage());
    Html.fact(
        writer, "Device", device.name() + (device.arch() == null ? "" : " · " + device.arch()));
    if (device.driver() != null) Html.fact(writer, "Driver", device.driver());
    if (device.uuid() != null) Html.fact(writer, "UUID", device.uuid());
    Html.fact(writer, "Started", Cell.time(run.started()).text());
    Html.fact(writer, "Took", run.finished() == null ? "not finished" : took(run.finished()));
    Html.fact(
        writer,
        "Stages",
        run.stages().stream().map(Stage::label).collect(Collectors.joining(" → ")));
    Html.fact(writer, "Grade", run.grade());
    if (!run.precision().equals("fp32")) Html.fact(writer, "Precision", run.precision());
    if (run.policy() != null) Html.fact(writer, "Policy", run.policy());
    Html.fact(
        writer,
        "Versions",
        new TreeMap<>(run.versions())
            .entrySet().stream()
                .map(e -> e.getKey() + " " + e.getValue())
                .collect(Collectors.joining(" · ")));
    Html.fact(writer, "Sources", String.join("  ", run.sources()));
  }

  private String took(Instant end) {
    return Cell.seconds(Duration.between(run.started(), end).toMillis() / 1_000.0).text();
  }
}
