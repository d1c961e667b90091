package dev.kbx.report;

import dev.kbx.analysis.Spent;
import dev.kbx.analysis.TaskShare;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.stats.TaskMean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What came of methods, for a terminal.
 *
 * @param width columns of the terminal
 */
public record TrajectoriesText(int width) {
  private static final String DEVELOPMENT = "correct*";
  private static final String FINAL = "final";
  private static final String GAP = "gap";

  /** The first column of costs. */
  private static final String CALLS = "calls";

  private static List<String> head(List<TrajectoryRates> methods) {
    List<Integer> ks = ks(methods);
    return List.of(
        "method",
        "model",
        "code",
        DEVELOPMENT,
        FINAL,
        GAP,
        "pass@" + (ks.size() == 1 ? ks.getFirst() : "k"),
        CALLS,
        "tokens",
        "USD",
        "judging");
  }

  /** Numbers of samples of which a pass@k is known. */
  private static List<Integer> ks(List<TrajectoryRates> methods) {
    return methods.stream()
        .filter(method -> method.passAtK() != null)
        .map(TrajectoryRates::k)
        .distinct()
        .toList();
  }

  /** If there are more, how trajectories went is left to the report. */
  private static final int MOST_TRAJECTORIES = 12;

  /** Trajectories of several rounds if they are few, then rates and costs of each method. */
  public List<String> lines(List<TrajectoryRow> trajectories) {
    List<String> lines = new ArrayList<>(rounds(trajectories));
    if (!lines.isEmpty()) lines.add("");
    lines.addAll(rates(TrajectoryRates.of(trajectories)));
    return lines;
  }

  private List<String> rates(List<TrajectoryRates> methods) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(head(methods));
    for (TrajectoryRates method : methods) {
      rows.add(values(method, ks(methods).size() > 1));
      rows.add(intervals(method));
    }
    List<List<String>> shown = withoutEmpty(rows);
    Grid whole = grid(shown);
    List<String> lines = new ArrayList<>();
    if (whole.canBeCutTo(width)) {
      lines.addAll(whole.lines(width));
    } else {
      int costs = shown.getFirst().indexOf(CALLS);
      lines.addAll(grid(columns(shown, 0, costs)).lines(width));
      lines.add("");
      lines.addAll(grid(costs(shown, costs)).lines(width));
    }
    lines.addAll(wrap(legend(shown.getFirst())));
    return lines;
  }

  /** Of the columns with these heads. */
  private static String legend(List<String> heads) {
    List<String> said = new ArrayList<>();
    if (heads.contains(DEVELOPMENT)) {
      said.add("* on development inputs, of the answers judged there");
    }
    if (heads.contains(FINAL)) said.add(FINAL + ": on inputs that no method saw");
    if (heads.contains(GAP)) said.add(GAP + ": the first less the second, in points");
    said.add("[ ]: 95 % interval.");
    return String.join("; ", said);
  }

  private static Grid grid(List<List<String>> rows) {
    return new Grid("ll" + "r".repeat(rows.getFirst().size() - 2), rows);
  }

  private static List<List<String>> columns(List<List<String>> rows, int from, int to) {
    return rows.stream().map(row -> row.subList(from, to)).toList();
  }

  /** The columns from {@code first} on beside the names, without the lines of intervals. */
  private static List<List<String>> costs(List<List<String>> rows, int first) {
    return rows.stream()
        .filter(row -> !row.getFirst().isEmpty())
        .map(row -> Stream.concat(row.stream().limit(2), row.stream().skip(first)).toList())
        .toList();
  }

  /** Without the columns that say nothing of any method. */
  private static List<List<String>> withoutEmpty(List<List<String>> rows) {
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < rows.getFirst().size(); i++) {
      int column = i;
      if (rows.stream().skip(1).anyMatch(row -> !row.get(column).isEmpty())) kept.add(i);
    }
    return rows.stream().map(row -> kept.stream().map(row::get).toList()).toList();
  }

  private static List<String> values(TrajectoryRates method, boolean namesK) {
    Spent spent = method.spent();
    return List.of(
        Text.clean(method.method()),
        Text.clean(method.model()),
        method.withCode() + "/" + method.tries(),
        share(method.development()),
        share(method.finalRate()),
        method.gap() == null ? "" : points("%+.0f", method.gap().value()),
        passAtK(method, namesK),
        calls(spent),
        tokens(spent),
        usd(spent),
        spent.deviceSeconds() == 0 ? "" : format("%.0f s", spent.deviceSeconds()));
  }

  /** {@code 50 %}, or {@code @4 50 %} where methods differ in k. */
  private static String passAtK(TrajectoryRates method, boolean namesK) {
    if (method.passAtK() == null) return "";
    String percent = "%s %%".formatted(points("%.0f", method.passAtK().value()));
    String of = method.passTasks() < method.tasks() ? " of " + method.passTasks() : "";
    return (namesK ? "@%d %s".formatted(method.k(), percent) : percent) + of;
  }

  private static String calls(Spent spent) {
    StringBuilder text = new StringBuilder().append(spent.calls());
    if (spent.requests() != spent.calls()) {
      text.append(", ").append(spent.requests()).append(" requests");
    }
    if (spent.uncounted() > 0) {
      text.append(", ").append(spent.uncounted()).append(" without usage: not priced");
    }
    if (spent.lost() > 0) text.append(", ").append(spent.lost()).append(" lost");
    if (spent.reported() > 0) text.append(", ").append(spent.reported()).append(" reported");
    return text.toString();
  }

  private static List<String> intervals(TrajectoryRates method) {
    return List.of(
        "",
        "",
        "",
        interval(method.development()),
        interval(method.finalRate()),
        interval("%+.0f", method.gap()),
        interval("%.0f", method.passAtK()),
        "",
        "",
        "",
        "");
  }

  private static String share(@Nullable TaskShare share) {
    if (share == null) return "";
    return "%d/%d %3s %%".formatted(share.passes(), share.total(), points("%.0f", share.value()));
  }

  private static String interval(@Nullable TaskShare share) {
    return share == null ? "" : interval("%.0f", share.low(), share.high());
  }

  private static String interval(String pattern, @Nullable TaskMean mean) {
    return mean == null ? "" : interval(pattern, mean.low(), mean.high());
  }

  private static String interval(String pattern, @Nullable Double low, @Nullable Double high) {
    if (low == null || high == null) return "";
    return "[%s–%s]".formatted(points(pattern, low), points(pattern, high));
  }

  private static String points(String pattern, double share) {
    return format(pattern, (double) Math.round(share * 100));
  }

  private static String tokens(Spent spent) {
    if (spent.tokens() == 0) return "";
    return (spent.uncounted() > 0 ? "≥ " : "") + String.format(Locale.ROOT, "%,d", spent.tokens());
  }

  private static String usd(Spent spent) {
    if (spent.usd() == 0) return "";
    return (spent.unpriced() > 0 ? "≥ " : "") + format("%.2f", spent.usd());
  }

  private static String format(String pattern, double value) {
    return String.format(Locale.ROOT, pattern, value);
  }

  // ---------------------------------------------------------------- trajectories

  private List<String> rounds(List<TrajectoryRow> all) {
    List<TrajectoryRow> several = all.stream().filter(row -> judged(row) > 1).toList();
    if (several.isEmpty() || several.size() > MOST_TRAJECTORIES) return List.of();
    List<List<String>> rows =
        several.stream().map(row -> List.of(Text.clean(name(row)), steps(row))).toList();
    List<String> recorded = TrajectoryRow.recordedOn(several);
    String head = "How answers came about, judged on development inputs.";
    if (!recorded.isEmpty()) {
      head +=
          " Speedups in brackets were not measured in this run: recorded on %s."
              .formatted(Text.clean(String.join("; ", recorded)));
    }
    List<String> lines = new ArrayList<>(wrap(head));
    lines.addAll(new Grid("ll", rows).lines(width));
    return lines;
  }

  private static long judged(TrajectoryRow row) {
    return row.rounds().stream().filter(round -> round.status() != null).count();
  }

  private static String name(TrajectoryRow row) {
    String sample = row.sample() == 0 ? "" : "#" + row.sample();
    return "%s %s%s".formatted(row.method(), row.task(), sample);
  }

  private static String steps(TrajectoryRow row) {
    return row.rounds().stream()
        .filter(round -> round.status() != null)
        .map(TrajectoriesText::step)
        .collect(Collectors.joining(" → "));
  }

  /** {@code correct 1.60×}, or {@code correct (1.60×)} if the speedup is a recorded one. */
  private static String step(Round round) {
    String status = round.status() == null ? "" : round.status().label();
    if (round.speedup() != null) return status + " " + RateText.ratio(round.speedup().value());
    if (round.recorded() == null) return status;
    return "%s (%s)".formatted(status, RateText.ratio(round.recorded().speedup().value()));
  }

  private List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}
