package dev.kbx.report;

import dev.kbx.analysis.Structures;
import dev.kbx.analysis.Structures.Cluster;
import dev.kbx.analysis.Structures.OfMaker;
import dev.kbx.analysis.Structures.Variety;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link Structures} for a terminal: how much samples differ, and the largest groups of
 * near-duplicates.
 *
 * @param width columns of the terminal
 */
record StructuresText(int width) {
  private static final int MAKERS = 12;
  private static final int CLUSTERS = 5;

  /** Lines after an empty one; none where no task has two candidates of known structure. */
  List<String> lines(Structures structures) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>();
    if (structures.all().candidates() > structures.all().tasks()) {
      lines.add("");
      lines.addAll(varieties(structures));
      lines.addAll(
          text.wrap(
              "Structures: sources on one task that differ only in names, constants, comments and"
                  + " layout count as one."));
      lines.addAll(clusters(structures.clusters()));
    }
    if (structures.unknown() > 0 && structures.all().candidates() > 0) {
      lines.addAll(
          text.wrap(
              "Of unknown structure, as the source does not parse or an earlier version judged it:"
                  + " %d.".formatted(structures.unknown())));
    }
    return lines;
  }

  private List<String> varieties(Structures structures) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("near-duplicates", "candidates", "tasks", "sources", "structures"));
    rows.add(row("all", structures.all()));
    List<OfMaker> makers = structures.makers();
    int shown = makers.size() < 2 ? 0 : Math.min(MAKERS, makers.size());
    for (OfMaker own : makers.subList(0, shown)) {
      rows.add(row(IterationsText.name(own.maker().method(), own.maker().model()), own.variety()));
    }
    return new Grid("lrrrr", rows).lines(width);
  }

  private static List<String> row(String name, Variety variety) {
    return List.of(
        name,
        Integer.toString(variety.candidates()),
        Integer.toString(variety.tasks()),
        Integer.toString(variety.sources()),
        Integer.toString(variety.structures()));
  }

  private List<String> clusters(List<Cluster> clusters) {
    List<String> lines = new ArrayList<>();
    for (Cluster each : clusters.subList(0, Math.min(CLUSTERS, clusters.size()))) {
      lines.add(
          Text.cut(
              "%5d  %s: %s, %d correct, as %s"
                  .formatted(
                      each.candidates(),
                      Text.clean(each.task()),
                      Counted.of(each.sources(), "source"),
                      each.correct(),
                      Text.clean(each.source())),
              width));
    }
    int more = clusters.size() - CLUSTERS;
    if (more > 0) lines.add("… and %d more, in --json".formatted(more));
    return lines;
  }
}
