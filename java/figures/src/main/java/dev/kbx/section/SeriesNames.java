package dev.kbx.section;

import dev.kbx.analysis.Series;
import dev.kbx.verdict.RunInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Names of series: the maker, the round, and the run or its device, where these differ. */
public final class SeriesNames {
  private final MethodNames methods;
  private final boolean rounds;
  private final Map<String, String> runs = new HashMap<>();

  public SeriesNames(List<Series> all, MethodNames methods) {
    this.methods = methods;
    rounds = all.stream().map(Series::round).distinct().count() > 1;
    Map<String, RunInfo> byId = new HashMap<>();
    for (Series series : all) byId.put(series.run().id(), series.run());
    if (byId.size() < 2) return;
    boolean devices =
        byId.values().stream().map(run -> run.device().name()).distinct().count() == byId.size();
    byId.forEach((id, run) -> runs.put(id, devices ? run.device().name() : id));
  }

  public String of(Series series) {
    StringBuilder name = new StringBuilder(methods.of(series.method(), series.model()));
    if (rounds && series.round() != null) name.append(", round ").append(series.round());
    String run = runs.get(series.run().id());
    if (run != null) name.append(", ").append(run);
    return name.toString();
  }
}
