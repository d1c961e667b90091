package dev.kbx.report;

import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
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
  private record Maker(String method, String model) {
    static Maker of(VerdictRow row) {
      return new Maker(
          Objects.requireNonNullElse(row.method(), ""),
          Objects.requireNonNullElse(row.model(), ""));
    }

    String both() {
      return Stream.of(method, model).filter(s -> !s.isEmpty()).collect(Collectors.joining(" "));
    }
  }

  /** One for each method and model, in the order of the rows. */
  static List<SeriesColumns> of(Collection<VerdictRow> rows) {
    Map<Maker, List<VerdictRow>> makers = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      makers.computeIfAbsent(Maker.of(row), _ -> new ArrayList<>()).add(row);
    }
    long methods =
        makers.keySet().stream().map(Maker::method).filter(m -> !m.isEmpty()).distinct().count();
    List<SeriesColumns> columns = new ArrayList<>();
    makers.forEach((maker, own) ->
        columns.add(
            new SeriesColumns(methods == makers.size() ? maker.method() : maker.both(), own)));
    return columns;
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
