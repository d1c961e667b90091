package dev.kbx.report;

import dev.kbx.analysis.Tally;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Counted;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
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
    if (correct == null) return Notes.counted(rows.size(), run);
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
    fact(writer, "Suite", run.suite() + (run.tasks().equals("*") ? "" : ", " + run.tasks()));
    if (!run.ofFiles()) fact(writer, "Coverage", coverage());
    fact(writer, "Device", device.name() + (device.arch() == null ? "" : " · " + device.arch()));
    if (device.driver() != null) fact(writer, "Driver", device.driver());
    if (device.uuid() != null) fact(writer, "UUID", device.uuid());
    fact(writer, "Started", time(run.started()));
    fact(writer, "Took", run.finished() == null ? "not finished" : took(run.finished()));
    fact(
        writer,
        "Stages",
        run.stages().stream().map(Stage::label).collect(Collectors.joining(" → ")));
    fact(writer, "Grade", run.grade());
    if (!run.precision().equals("fp32")) fact(writer, "Precision", run.precision());
    if (run.policy() != null) fact(writer, "Policy", run.policy());
    fact(
        writer,
        "Versions",
        new TreeMap<>(run.versions())
            .entrySet().stream()
                .map(e -> e.getKey() + " " + e.getValue())
                .collect(Collectors.joining(" · ")));
    fact(writer, "Sources", String.join("  ", run.sources()));
  }

  private static void fact(Writer writer, String name, String value) throws IOException {
    writer.write("<div><dt>" + name + "</dt><dd>" + Html.escape(value) + "</dd></div>\n");
  }

  private static String time(Instant instant) {
    return DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT)
        .format(instant.atOffset(ZoneOffset.UTC));
  }

  private String took(Instant end) {
    Duration took = Duration.between(run.started(), end);
    if (took.toMinutes() == 0) {
      return String.format(Locale.ROOT, "%.1f s", took.toMillis() / 1_000.0);
    }
    return took.toHours() == 0
        ? took.toMinutes() + " min " + took.toSecondsPart() + " s"
        : took.toHours() + " h " + took.toMinutesPart() + " min";
  }
}
