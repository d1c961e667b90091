package dev.kbx.report;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The candidates of one method and model of a run, for tables with a column for each.
 *
 * @param label the method; with the model where a method has several
 */
record SeriesColumns(String label, List<VerdictRow> rows) {
  /** One for each method and model, by name: rows are in the order in which they were judged. */
  static List<SeriesColumns> of(Collection<VerdictRow> rows) {
    Map<Maker, List<VerdictRow>> makers = Maker.group(rows);
    long methods =
        makers.keySet().stream().map(Maker::method).filter(Objects::nonNull).distinct().count();
    boolean one = methods == makers.size();
    List<SeriesColumns> columns = new ArrayList<>();
    makers.forEach((maker, own) -> columns.add(new SeriesColumns(label(maker, one), own)));
    return columns;
  }

  /** Of methods with one model each, the method alone. */
  private static String label(Maker maker, boolean one) {
    return Stream.of(maker.method(), one ? null : maker.model())
        .filter(Objects::nonNull)
        .collect(Collectors.joining(" "));
  }

  /** All categories of some rows. */
  static List<String> categories(Collection<VerdictRow> rows, Tally tally) {
    return tally.byCategory(rows).stream().map(Tally.Passes::name).toList();
  }

  /** Its candidates of a category. */
  Tally.Passes category(String name, Tally tally) {
    return tally.candidates(
        name, rows.stream().filter(row -> row.category().equals(name)).toList());
  }
}
