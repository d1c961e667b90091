package dev.kbx.paper;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.FastP.Against;
import dev.kbx.analysis.FastP.Point;
import dev.kbx.paper.Tabular.Section;
import java.util.ArrayList;
import java.util.List;

/** A table of fast_p for each baseline. */
final class SpeedTables {
  private SpeedTables() {}

  static List<Tabular> of(Publication publication) {
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

  private static Tabular table(List<FastP> timed, String baseline, Makers makers) {
    SeriesNames names = new SeriesNames(timed.stream().map(FastP::series).toList(), makers);
    List<String> heads = new ArrayList<>(List.of("candidates", "tasks"));
    List<List<String>> rows = new ArrayList<>();
    for (FastP each : timed) {
      for (Against against : each.against()) {
        if (!against.baseline().equals(baseline)) continue;
        List<Point> points = against.overall().thresholds();
        if (rows.isEmpty()) points.forEach(point -> heads.add("p = " + Axes.number(point.p())));
        List<String> row = new ArrayList<>(List.of(names.of(each.series())));
        row.add(each.series().submitted() + "/" + each.series().tasks());
        points.forEach(point -> row.add(Numbers.percent(point.share(), point.low(), point.high())));
        rows.add(row);
      }
    }
    return new Tabular(
        "fastp-" + Slug.of(baseline),
        Section.SPEED,
        Captions.fastP(baseline)
            + " In percent, with Wilson's 95 % intervals. Tasks: with a candidate, of all asked"
            + " for.",
        Tabular.columns(1, heads),
        rows);
  }
}
