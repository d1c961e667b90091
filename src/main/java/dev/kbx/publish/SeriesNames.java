package dev.kbx.publish;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.Series;
import java.util.List;

/** Names of series: the maker, and round and run where these differ. */
final class SeriesNames {
  private final Makers makers;
  private final boolean rounds;
  private final boolean runs;

  SeriesNames(List<Series> all) {
    makers = new Makers(all.stream().map(SeriesNames::maker).distinct().toList());
    rounds = all.stream().map(Series::round).distinct().count() > 1;
    runs = all.stream().map(series -> series.run().id()).distinct().count() > 1;
  }

  private static Maker maker(Series series) {
    return new Maker(series.method(), series.model());
  }

  String of(Series series) {
    StringBuilder name = new StringBuilder(makers.of(maker(series)));
    if (rounds && series.round() != null) name.append(", round ").append(series.round());
    if (runs) name.append(", ").append(series.run().id());
    return name.toString();
  }
}
