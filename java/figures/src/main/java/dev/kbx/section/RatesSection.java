package dev.kbx.section;

import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.Tally.Passes;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How many candidates of one run reach each stage: overall, by status and by category. */
public final class RatesSection {
  private final Tally tally;
  private final List<VerdictRow> rows;
  private final RunInfo run;

  private RatesSection(RunInfo run, Tally tally, List<VerdictRow> rows) {
    this.run = run;
    this.tally = tally;
    this.rows = rows;
  }

  /** Rates over the tasks tried, then statuses, then categories. */
  public static List<Section> of(RunInfo run, Tally tally, List<VerdictRow> rows) {
    RatesSection rates = new RatesSection(run, tally, rows);
    return List.of(
        new Section("rates", "Rates", List.of(new Block.Tiles(rates.tiles()))),
        statuses(Tally.byStatus(rows)),
        new Section("categories", "By category", List.of(categories(run, tally, rows, true))));
  }

  // ---------------------------------------------------------------- overall

  private List<Tile> tiles() {
    Passes all = tally.candidates("all", rows);
    Passes tasks = tally.tasks("tasks", rows);
    List<Tile> tiles = new ArrayList<>();
    tiles.add(
        new Tile(
            "Tasks tried",
            Cell.part(Math.toIntExact(tally.tried(rows)), tally.asked().total()),
            "of those asked for"));
    tiles.add(tile("Called", tasks.call(), all.call()));
    tiles.add(
        tile(
            tally.general() ? "Correct, published grade" : "Correct",
            tasks.correct(),
            all.correct()));
    if (tally.general()) {
      tiles.add(tile("Correct, general grade", tasks.general(), all.general()));
    }
    tiles.add(tile("Timed", tasks.perf(), all.perf()));
    SetSpeedup speedup = SetSpeedup.of(tally.counted(rows));
    if (speedup != null) tiles.add(tile(speedup, run.baseline()));
    if (all.notJudged() > 0) {
      tiles.add(
          new Tile(
              "Not judged", Cell.count(all.notJudged()), "task or kbx at fault; not in the rates"));
    }
    return tiles;
  }

  /** The rate over the tasks tried, and that over the candidates judged. */
  private Tile tile(String title, @Nullable Rate tasks, @Nullable Rate candidates) {
    if (tasks == null) return new Tile(title, Cell.text("not measured"), "");
    return new Tile(
        title,
        share(tasks),
        "%d of %s tried; %s"
            .formatted(
                tasks.passes(),
                Counted.of(tasks.total(), "task"),
                candidates == null
                    ? "no candidate judged"
                    : "%d of %s, %s"
                        .formatted(
                            candidates.passes(),
                            counted(candidates.total(), run),
                            share(candidates).brief())));
  }

  private static Tile tile(SetSpeedup speedup, String baseline) {
    return new Tile(
        "Speedup, geometric mean",
        Cell.ratio(speedup.geometricMean(), speedup.low(), speedup.high()),
        "over %s, %s, against %s; median %s; %d of %s slower than 1×"
            .formatted(
                Counted.of(speedup.tasks(), "task"),
                Counted.of(speedup.candidates(), "candidate"),
                baseline,
                Cell.ratio(speedup.median()).text(),
                speedup.slower(),
                Counted.of(speedup.tasks(), "task")));
  }

  /** A rate as a share with its interval. */
  public static Cell share(Rate rate) {
    return Cell.share(rate.value(), rate.low(), rate.high());
  }

  /** The share of an expert's speed, with its interval; missing where there is none. */
  public static Cell ofExpert(Judgement judgement) {
    Baseline expert = judgement.expert();
    return expert == null
        ? Cell.missing()
        : Cell.share(expert.speedup(), expert.low(), expert.high());
  }

  /** A speedup with its interval; of a published one, which has none, the value alone. */
  public static Cell speedup(@Nullable Speedup speedup) {
    if (speedup == null) return Cell.missing();
    return speedup.hasInterval()
        ? Cell.ratio(speedup.value(), speedup.low(), speedup.high())
        : Cell.ratio(speedup.value());
  }

  /** A number of verdicts of a run, in words: {@code 7 candidates judged}. */
  public static String counted(long verdicts, RunInfo run) {
    return run.published() == null
        ? Counted.of(verdicts, "candidate") + " judged"
        : Counted.of(verdicts, "published result");
  }

  // ---------------------------------------------------------------- statuses

  /** Candidates by status, each linked by the filter {@code status}. */
  public static Section statuses(Map<Status, Integer> counts) {
    int all = counts.values().stream().mapToInt(count -> count).sum();
    Blocks blocks = new Blocks();
    blocks.table(
        "statuses",
        "",
        List.of(
            new Column.Of<>(
                Column.text("status"),
                each ->
                    Cell.link(label(each.getKey()), Filters.of("status", each.getKey().label()))),
            Column.number("candidates", each -> Cell.count(each.getValue())),
            Column.<Map.Entry<Status, Integer>>number(
                "share", each -> Cell.share((double) each.getValue() / all))),
        List.copyOf(counts.entrySet()));
    return blocks.section("statuses", "By status");
  }

  /** A status in its colour. */
  public static Cell label(Status status) {
    return Cell.label(
        status.label(),
        switch (status.blame()) {
          case NOBODY -> Tone.GOOD;
          case CANDIDATE -> Tone.BAD;
          case TASK, KBX -> Tone.ODD;
        });
  }

  // ---------------------------------------------------------------- categories

  /**
   * A row for each category, one for all, and one for the tasks tried.
   *
   * @param intervals whether there is room for them
   */
  public static Table categories(
      RunInfo run, Tally tally, List<VerdictRow> rows, boolean intervals) {
    List<Passes> passes = new ArrayList<>(tally.byCategory(rows));
    passes.add(tally.candidates("all", rows));
    passes.add(tally.tasks("tasks tried", rows));
    List<Column.Of<Passes>> columns = new ArrayList<>();
    columns.add(Column.text("category", Passes::name));
    columns.add(Column.number("candidates", each -> Cell.count(each.candidates())));
    columns.add(Column.number("called", each -> rate(each.call(), unknown(each))));
    if (tally.hasOtherRightValues(rows)) {
      columns.add(Column.number("by published rules", each -> rate(each.values(), unknown(each))));
    }
    columns.add(Column.number("correct", each -> rate(each.correct(), unknown(each))));
    if (tally.general()) {
      columns.add(Column.number("general", each -> rate(each.general(), unknownGeneral(each))));
    }
    if (tally.perf()) columns.add(Column.number("timed", each -> rate(each.perf(), unknown(each))));
    boolean memory = rows.stream().anyMatch(row -> row.status().ofMemory());
    if (memory) columns.add(Column.number("memory", each -> Cell.count(each.memory())));
    String caption = intervals ? caption(run, tally, memory) + dependent(tally, rows) : "";
    Table table = Table.of("by-category", caption, columns, passes);
    return intervals ? table : table.brief();
  }

  private static String caption(RunInfo run, Tally tally, boolean memory) {
    return "Of the %s, with Wilson's 95 %% interval; in the last row of the tasks tried, those with a candidate that passes.%s%s"
        .formatted(
            run.published() == null ? "candidates judged" : "published results",
            tally.general() ? " " + Captions.grades() : "",
            memory
                ? " Memory: those that leave their tensors, race, or depend on the order of"
                    + " programs or on undefined values."
                : "");
  }

  /** That candidates of one task are not independent, which Wilson's interval asks for. */
  private static String dependent(Tally tally, List<VerdictRow> rows) {
    return tally.submitted(rows) == tally.counted(rows).size()
        ? ""
        : " Tasks have several candidates, which are not independent: the intervals of candidates"
            + " are too narrow.";
  }

  private static Cell rate(@Nullable Rate rate, String unknown) {
    return rate == null
        ? Cell.text(unknown)
        : Cell.rate(rate.passes(), rate.total(), rate.value(), rate.low(), rate.high());
  }

  /** Stands for a rate that is null. */
  private static String unknown(Passes passes) {
    boolean none = passes.notJudged() > 0 && passes.notJudged() == passes.candidates();
    return none ? "none judged" : "not measured";
  }

  private static String unknownGeneral(Passes passes) {
    return passes.correct() == null ? unknown(passes) : "not known";
  }
}
