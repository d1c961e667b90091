package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.TaskShare;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import dev.kbx.stats.TaskMean;
import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What came of methods: rates and costs of each, and how answers came about. */
public final class TrajectoriesSection {
  private TrajectoriesSection() {}

  /** Rates and costs of each method. */
  public static Section rates(List<TrajectoryRow> rows) {
    Blocks blocks = new Blocks();
    Table all =
        Table.of(
            "methods",
            "Development: of the answers judged for feedback, those correct on development inputs."
                + " Final: of all answers, those correct in the final judgement, which is on inputs"
                + " that no method saw. Gap: the first less the second, in points. Intervals are"
                + " 95 %: Wilson's with one answer a task, else by a bootstrap over tasks.",
            List.of(
                Column.text("method", TrajectoryRates::method),
                Column.<TrajectoryRates>text("model", TrajectoryRates::model).optional(),
                Column.number("code", each -> Cell.part(each.withCode(), each.tries())),
                Column.number("development", each -> share(each.development())),
                Column.number("final", each -> share(each.finalRate())),
                Column.number("gap", each -> points(each.gap())),
                Column.number("tasks solved", TrajectoriesSection::solved),
                Column.number("pass@k", each -> pass(each, each.pass().passAtK())),
                Column.number("pass^k", each -> pass(each, each.pass().allPass())),
                Column.number("calls", each -> Cell.text(calls(each.spent()))),
                Column.number("tokens", each -> Cell.text(tokens(each.spent()))),
                Column.number("USD", each -> Cell.text(usd(each.spent()))),
                Column.number("judging", each -> judging(each.spent()))),
            TrajectoryRates.of(rows));
    blocks.add(all.withoutEmpty());
    return blocks.section("trajectories", "Methods");
  }

  private static Cell share(@Nullable TaskShare share) {
    if (share == null) return Cell.missing();
    return Cell.rate(share.passes(), share.total(), share.value(), share.low(), share.high());
  }

  private static Cell points(@Nullable TaskMean gap) {
    return gap == null ? Cell.missing() : Cell.points(gap.value(), gap.low(), gap.high());
  }

  private static Cell solved(TrajectoryRates each) {
    return each.solved() == null ? Cell.missing() : Cell.part(each.solved(), each.tasks());
  }

  /** {@code 50.0 % @4 of 12}: k, and the tasks that have so many samples if not all. */
  private static Cell pass(TrajectoryRates each, @Nullable TaskMean mean) {
    if (mean == null) return Cell.missing();
    String of = each.pass().passTasks() < each.tasks() ? " of " + each.pass().passTasks() : "";
    return Cell.text(
        "@%d %s%s"
            .formatted(
                each.pass().k(), Cell.share(mean.value(), mean.low(), mean.high()).text(), of));
  }

  private static String calls(Spent spent) {
    List<String> parts = new ArrayList<>(List.of(Long.toString(spent.calls())));
    if (spent.requests() != spent.calls()) parts.add(spent.requests() + " requests");
    if (spent.uncounted() > 0) parts.add(spent.uncounted() + " without usage: not priced");
    if (spent.lost() > 0) parts.add(spent.lost() + " lost");
    if (spent.reported() > 0) parts.add(spent.reported() + " reported");
    return String.join(", ", parts);
  }

  private static @Nullable String tokens(Spent spent) {
    if (spent.tokens() == 0) return null;
    return (spent.uncounted() > 0 ? "≥ " : "") + Cell.count(spent.tokens()).text();
  }

  private static @Nullable String usd(Spent spent) {
    if (spent.usd() == 0) return null;
    return (spent.unpriced() > 0 ? "≥ " : "") + Cell.usd(spent.usd()).text();
  }

  private static Cell judging(Spent spent) {
    return spent.deviceSeconds() == 0 ? Cell.missing() : Cell.seconds(spent.deviceSeconds());
  }

  /**
   * How answers of several rounds came about; null without one.
   *
   * @param most trajectories that are listed
   */
  public static @Nullable Section rounds(List<TrajectoryRow> rows, int most) {
    List<TrajectoryRow> several = rows.stream().filter(row -> judged(row) > 1).toList();
    if (several.isEmpty()) return null;
    Blocks blocks = new Blocks();
    List<String> recorded = TrajectoryRow.recordedOn(several);
    if (!recorded.isEmpty()) {
      blocks.note(
          "Speedups in brackets were not measured in this run. They are those of the ledger that it"
              + " replays, recorded on %s.",
          String.join("; ", recorded));
    }
    blocks.first(
        most,
        "rounds",
        "Verdicts on development inputs, in the order of the requests.",
        List.of(
            Column.text("answer", TrajectoriesSection::name),
            Column.<TrajectoryRow>text("rounds", TrajectoriesSection::steps).wrapped()),
        several);
    return blocks.section("rounds", "How answers came about");
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
        .map(TrajectoriesSection::step)
        .filter(Objects::nonNull)
        .collect(joining(" → "));
  }

  /** {@code correct 1.60×}, or {@code correct (1.60×)} if the speedup is a recorded one. */
  private static @Nullable String step(Round round) {
    if (round.status() == null) return null;
    String status = round.status().label();
    if (round.speedup() != null) return status + " " + Cell.ratio(round.speedup().value()).text();
    return round.recorded() == null
        ? status
        : "%s (%s)".formatted(status, Cell.ratio(round.recorded().speedup().value()).text());
  }
}
