package dev.kbx.paper;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.FastP.Against;
import dev.kbx.analysis.FastP.Point;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import java.util.ArrayList;
import java.util.List;

/** A table of fast_p for each baseline. */
final class SpeedTables {
  private SpeedTables() {}

  static List<Table> of(Publication publication) {
    List<FastP> timed =
        publication.fastp().stream().filter(each -> each.untimed() == null).toList();
    List<String> baselines =
        timed.stream()
            .flatMap(each -> each.against().stream())
            .map(Against::baseline)
            .distinct()
            .toList();
    return baselines.stream()
        .map(baseline -> table(timed, baseline, publication.makers()))
        .toList();
  }

  private static Table table(List<FastP> timed, String baseline, Makers makers) {
    SeriesNames names = new SeriesNames(timed.stream().map(FastP::series).toList(), makers);
    List<Column> columns =
        new ArrayList<>(List.of(Column.text("candidates"), Column.number("tasks")));
    List<List<Cell>> rows = new ArrayList<>();
    for (FastP each : timed) {
      for (Against against : each.against()) {
        if (!against.baseline().equals(baseline)) continue;
        List<Point> points = against.overall().thresholds();
        if (rows.isEmpty()) {
          points.forEach(point -> columns.add(Column.number("p = " + Axes.number(point.p()))));
        }
        List<Cell> row = new ArrayList<>(List.of(Cell.text(names.of(each.series()))));
        row.add(Cell.part(each.series().submitted(), each.series().tasks()));
        points.forEach(point -> row.add(Cell.share(point.share(), point.low(), point.high())));
        rows.add(row);
      }
    }
    return new Table(
        "fastp-" + Slug.of(baseline),
        Captions.fastP(baseline)
            + " Wilson's 95 % intervals. Tasks: with a candidate, of all asked"
            + " for.",
        columns,
        rows);
  }
}
