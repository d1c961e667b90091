package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.CostPerSolved;
import dev.kbx.analysis.FeedbackChange;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.TaskShare;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.TurnsToCorrect;
import dev.kbx.document.Block;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.stats.KaplanMeier.Step;
import java.util.ArrayList;
import java.util.List;

/** What turns of methods cost and bring: one run. */
public final class TurnsSection {
  /** Turns of a method in a table. */
  private static final int TURNS = 20;

  private TurnsSection() {}

  /** The figures of a run. */
  public record Turns(
      String run,
      List<CostPerSolved> costs,
      List<TurnsToCorrect> firstCorrect,
      List<FeedbackChange> feedback) {

    /** From what its ledger says. */
    public static Turns of(
        String run, List<TrajectoryRow> rows, List<FeedbackChange.Followed> followed) {
      return new Turns(
          run, CostPerSolved.of(rows), TurnsToCorrect.of(rows), FeedbackChange.of(followed));
    }
  }

  /** A turn of a method. */
  private record OfTurn(TurnsToCorrect method, Step step) {}

  public static Section of(Turns run) {
    return section(run, "Run " + run.run());
  }

  /** The section of several runs. */
  public static Section of(List<Turns> runs) {
    Blocks blocks = new Blocks();
    for (int i = 0; i < runs.size(); i++) {
      String run = "Run %s. ".formatted(runs.get(i).run());
      String number = runs.size() == 1 ? "" : "-" + (i + 1);
      for (Block block : of(runs.get(i)).blocks()) {
        blocks.add(block instanceof Table table ? table.renamed(table.id() + number, run) : block);
      }
    }
    return blocks.section("turns", "Turns");
  }

  /** On the page of the run, where it is looked up. */
  public static Section folded(Turns run) {
    return section(run, "Turns: cost, first correct kernel, feedback").fold();
  }

  private static Section section(Turns run, String title) {
    MethodNames names =
        new MethodNames(
            run.costs().stream().map(c -> new MethodAndModel(c.method(), c.model())).toList());
    Blocks blocks = new Blocks();
    if (!run.costs().isEmpty()) costs(blocks, names, run.costs());
    firstCorrect(blocks, names, run.firstCorrect());
    feedback(blocks, names, run.feedback());
    return blocks.section("turns", title);
  }

  private static void costs(Blocks blocks, MethodNames names, List<CostPerSolved> costs) {
    List<Column.Of<CostPerSolved>> columns = new ArrayList<>();
    columns.add(Column.text("method", each -> names.of(each.method(), each.model())));
    columns.add(Column.number("tasks solved", each -> Cell.part(each.solved(), each.tasks())));
    for (BudgetCurve.Kind kind : BudgetCurve.Kind.values()) {
      columns.add(Column.number(BudgetSection.title(kind), each -> cost(each.of(kind))));
    }
    Table all =
        Table.of(
            "cost-per-solved",
            "Cost of a solved task: all that was spent, on unsolved tasks, too, divided by the"
                + " tasks with an answer that is correct in the final judgement. Intervals: 95 %,"
                + " bootstrap over tasks; ∞ where draws have no solved task.",
            columns,
            costs);
    blocks.add(all.stack().withoutEmpty());
    for (CostPerSolved each : costs) {
      String name = names.of(each.method(), each.model());
      if (each.tasks() == 0) {
        blocks.note("%s: no answer has a final judgement.", name);
        continue;
      }
      if (each.solved() == 0) blocks.note("%s: nothing was solved.", name);
      for (CostPerSolved.Amount amount : each.amounts()) {
        if (amount.unknown() == null) continue;
        blocks.note(
            "%s of %s: not known, as %s.",
            BudgetSection.title(amount.kind()), name, amount.unknown());
      }
    }
  }

  private static Cell cost(CostPerSolved.Amount amount) {
    if (amount.each() == null) return Cell.missing();
    String value = text(amount.kind(), amount.each());
    if (amount.low() == null) return Cell.text(value);
    String high = amount.high() == null ? "∞" : text(amount.kind(), amount.high());
    return Cell.text("%s [%s–%s]".formatted(value, text(amount.kind(), amount.low()), high));
  }

  private static String text(BudgetCurve.Kind kind, double amount) {
    return (switch (kind) {
          case TURNS, CALLS -> Cell.mean(amount);
          case TOKENS -> Cell.count(Math.round(amount));
          case USD -> Cell.usd(amount);
          case DEVICE_SECONDS -> Cell.seconds(amount);
        })
        .text();
  }

  private static void firstCorrect(Blocks blocks, MethodNames names, List<TurnsToCorrect> methods) {
    blocks.table(
        "first-correct",
        "Trajectories by whether a kernel of theirs was correct on development inputs, and the turn"
            + " by which half of them had one. A turn is a kernel that was judged there.",
        List.of(
            Column.text("method", each -> names.of(each.method(), each.model())),
            Column.number("trajectories", each -> Cell.count(each.trajectories())),
            Column.number("correct", each -> Cell.count(each.correct())),
            Column.number("never", each -> Cell.count(each.trajectories() - each.correct())),
            Column.<TurnsToCorrect>number("without a turn", each -> Cell.count(each.withoutTurn()))
                .optional(),
            Column.number("median turn", each -> Cell.count(each.median()))),
        methods);
    List<OfTurn> turns = new ArrayList<>();
    for (TurnsToCorrect method : methods) {
      if (method.byTurn() == null) continue;
      List<Step> steps = method.byTurn().steps();
      for (Step step : Blocks.first(TURNS, steps)) turns.add(new OfTurn(method, step));
      if (steps.size() <= TURNS) continue;
      blocks.note(
          "%s: the first %d of %s; --json has all.",
          names.of(method.method(), method.model()), TURNS, Counted.of(steps.size(), "turn"));
    }
    blocks.table(
        "turns-to-correct",
        "Share of trajectories with a kernel that is correct on development inputs, by turn"
            + " (Kaplan and Meier). Those that end without one are censored: they count up to their"
            + " last turn, as if they would have gone on like the others. Intervals: 95 %, Wilson"
            + " for the effective number (Rothman), with several samples a task by bootstrap over"
            + " tasks.",
        List.of(
            Column.text("method", each -> names.of(each.method().method(), each.method().model())),
            Column.number("turn", each -> Cell.count(each.step().time())),
            Column.number("reached by", each -> Cell.count(each.step().atRisk())),
            Column.number("first correct", each -> Cell.count(each.step().events())),
            Column.number("ended without", each -> Cell.count(each.step().censored())),
            Column.number(
                "correct by then",
                each -> Cell.share(each.step().share(), each.step().low(), each.step().high()))),
        turns);
  }

  private static void feedback(Blocks blocks, MethodNames names, List<FeedbackChange> changes) {
    blocks.stacked(
        "feedback",
        "What was written after feedback: how many kernels, how many of these are correct, with"
            + " 95 % interval, and the share of lines that are not in both kernels (median of the"
            + " changed ones).",
        List.of(
            Column.text("method", each -> names.of(each.method(), each.model())),
            Column.text("feedback", each -> each.status().label()),
            Column.number("followed by", each -> Cell.count(each.followed())),
            Column.number("correct", each -> rate(each.correct())),
            Column.number("the same", each -> Cell.count(each.same())),
            Column.number("unchanged", each -> Cell.count(each.unchanged())),
            Column.number("lines changed", each -> Cell.share(each.changed())),
            Column.<FeedbackChange>text("next status", TurnsSection::next).wrapped()),
        changes);
    if (changes.isEmpty()) blocks.note("No kernel was written after feedback.");
  }

  private static Cell rate(TaskShare share) {
    return Cell.rate(share.passes(), share.total(), share.value(), share.low(), share.high());
  }

  /** {@code wrong_values 3, correct 2}. */
  private static String next(FeedbackChange change) {
    return change.next().stream()
        .map(next -> next.status().label() + " " + next.count())
        .collect(joining(", "));
  }
}
