package dev.kbx.section;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.Comparison.SpeedChange.Outcome;
import dev.kbx.analysis.Grades;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.document.Block;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@link Comparison}: what changed, pairs of candidates, tasks, speed. */
public final class ComparisonSection {
  /** Listed pairs; if there are more, changed ones come first. */
  private static final int LISTED = 60;

  private final Comparison comparison;
  private final Blocks blocks = new Blocks();

  private ComparisonSection(Comparison comparison) {
    this.comparison = comparison;
  }

  public static Section of(Comparison comparison) {
    ComparisonSection section = new ComparisonSection(comparison);
    section.run("Then", comparison.then(), comparison.judgedThen());
    section.run("Now", comparison.now(), comparison.judgedNow());
    section.changed();
    section.candidates();
    section.tasks();
    section.general();
    section.speed();
    return section.blocks.section(
        "comparison", "Runs %s and %s".formatted(comparison.then().id(), comparison.now().id()));
  }

  private void run(String label, RunInfo run, int judged) {
    String uuid = run.device().uuid();
    blocks.note(
        "%s: run %s, %s judged%s, on %s%s.",
        label,
        run.title(),
        run.neverEnds() ? judged : judged + " of " + run.candidates(),
        run.finished() == null && !run.neverEnds() ? ", not finished" : "",
        run.device().name(),
        uuid == null ? "" : " " + uuid);
  }

  private void changed() {
    List<String> parts = new ArrayList<>();
    comparison.changed().forEach((name, was) -> parts.add(name + " " + change(was)));
    if (!parts.isEmpty()) blocks.note("Changed: %s.", String.join(", ", parts));
  }

  /** {@code 3.6.0 → none}. */
  public static String change(Comparison.Changed was) {
    return Objects.requireNonNullElse(was.then(), "none")
        + " → "
        + Objects.requireNonNullElse(was.now(), "none");
  }

  private void candidates() {
    List<Row> rows = comparison.candidates();
    List<Row> listed = listed(rows);
    blocks.table("candidates", "", columns(listed), listed);
    int left = rows.size() - listed.size();
    if (left > 0) blocks.note("%d more, which changed least, are in the JSON document.", left);
  }

  private static List<Column.Of<Row>> columns(List<Row> rows) {
    List<Column.Of<Row>> columns = new ArrayList<>();
    columns.add(Column.text("candidate", ComparisonSection::name));
    if (rows.stream().anyMatch(row -> row.sample() > 0)) {
      columns.add(
          Column.text("file", row -> change(file(row.then().source()), file(row.now().source()))));
    }
    columns.add(
        Column.text(
            "status", row -> change(row.then().status().label(), row.now().status().label())));
    if (rows.stream()
        .anyMatch(row -> row.then().speedup() != null || row.now().speedup() != null)) {
      columns.add(Column.number("then", row -> RatesSection.speedup(row.then().speedup())));
      columns.add(Column.number("now", row -> RatesSection.speedup(row.now().speedup())));
      columns.add(Column.number("now ÷ then", row -> change(row.speed())));
    }
    columns.add(Column.text("outcome", ComparisonSection::outcome));
    return columns;
  }

  private static String name(Row row) {
    return row.category() + "/" + row.task() + (row.sample() == 0 ? "" : "#" + row.sample());
  }

  /** The name of a source without its folder. */
  static String file(String source) {
    return source.substring(source.lastIndexOf('/') + 1);
  }

  /** All rows, or the first {@link #LISTED} with changed ones before unchanged ones. */
  private static List<Row> listed(List<Row> rows) {
    if (rows.size() <= LISTED) return rows;
    return Stream.concat(
            rows.stream().filter(ComparisonSection::changed),
            rows.stream().filter(row -> !changed(row)))
        .limit(LISTED)
        .toList();
  }

  private static boolean changed(Row row) {
    TaskOutcomes.Transition transition = row.transition();
    if (transition == TaskOutcomes.Transition.RESCUED
        || transition == TaskOutcomes.Transition.REGRESSED) return true;
    Comparison.SpeedChange speed = row.speed();
    if (speed == null) return false;
    return speed.outcome() == Outcome.FASTER || speed.outcome() == Outcome.SLOWER;
  }

  private static String change(String then, String now) {
    return then.equals(now) ? now : then + " → " + now;
  }

  private static Cell change(Comparison.@Nullable SpeedChange change) {
    return change == null
        ? Cell.missing()
        : Cell.ratio(change.value(), change.low(), change.high());
  }

  /** The change, or why none can be told. */
  private static String outcome(Row row) {
    if (row.transition() == null) return "not judged";
    if (row.transition() != TaskOutcomes.Transition.PERSISTENT) {
      return row.transition() == TaskOutcomes.Transition.UNRESOLVED ? "" : row.transition().label();
    }
    if (row.speed() == null) return "";
    return words(row.speed().outcome());
  }

  private static String words(Outcome outcome) {
    return switch (outcome) {
      case FASTER -> "faster";
      case SLOWER -> "slower";
      case SAME -> "same";
      case OTHER_DEVICE -> "other device";
      case OTHER_BASELINE -> "other baseline";
      case OTHER_SIZES -> "other sizes";
      case AS_PUBLISHED -> "as published";
    };
  }

  // ---------------------------------------------------------------- a page

  /** Candidates by what became of them, in the order of a page. */
  public enum Kind {
    REGRESSED("Regressed"),
    RESCUED("Rescued"),
    SLOWER("Slower"),
    FASTER("Faster"),
    CHANGED("Correct in neither, with another status"),
    OTHER("Unchanged, or not comparable");

    private final String title;

    Kind(String title) {
      this.title = title;
    }

    /** What became of a candidate. */
    public static Kind of(Row row) {
      if (row.transition() == TaskOutcomes.Transition.REGRESSED) return REGRESSED;
      if (row.transition() == TaskOutcomes.Transition.RESCUED) return RESCUED;
      if (row.then().status() != row.now().status()) return CHANGED;
      if (row.speed() == null) return OTHER;
      return switch (row.speed().outcome()) {
        case SLOWER -> SLOWER;
        case FASTER -> FASTER;
        case SAME, OTHER_DEVICE, OTHER_BASELINE, OTHER_SIZES, AS_PUBLISHED -> OTHER;
      };
    }
  }

  /**
   * All candidates for a page: figures first, then categories, then each {@link Kind}.
   *
   * @param changes of a candidate's source; null where these are not shown
   */
  public static List<Section> page(Comparison comparison, Function<Row, @Nullable String> changes) {
    List<Section> sections = new ArrayList<>();
    sections.add(new Section("tasks", "Tasks", List.of(new Block.Tiles(tiles(comparison)))));
    sections.add(categories(comparison));
    Map<Kind, List<Row>> kinds = new EnumMap<>(Kind.class);
    for (Row row : comparison.candidates()) {
      kinds.computeIfAbsent(Kind.of(row), _ -> new ArrayList<>()).add(row);
    }
    kinds.forEach((kind, rows) -> sections.add(kind(kind, rows, changes)));
    return sections;
  }

  private static List<Tile> tiles(Comparison comparison) {
    TaskOutcomes tasks = comparison.tasks();
    List<Tile> tiles = new ArrayList<>();
    tiles.add(new Tile("Tasks rescued", Cell.count(tasks.rescued()), "wrong before, right now"));
    tiles.add(
        new Tile("Tasks regressed", Cell.count(tasks.regressed()), "right before, wrong now"));
    tiles.add(new Tile("Tasks persistent", Cell.count(tasks.persistent()), "right in both"));
    tiles.add(new Tile("Tasks unresolved", Cell.count(tasks.unresolved()), "wrong in both"));
    if (tasks.rescued() + tasks.regressed() > 0) {
      tiles.add(
          new Tile(
              "McNemar’s exact test",
              Cell.text(Captions.p(tasks.mcnemar().pValue())),
              "whether rescued and regressed differ by more than chance"));
    }
    Comparison.MatchedSpeed speed = comparison.speed();
    if (speed == null) return tiles;
    tiles.add(
        new Tile(
            "Speed, now ÷ then",
            Cell.ratio(speed.change().value(), speed.change().low(), speed.change().high()),
            "geometric mean over tasks; of %s %d faster, %d slower"
                .formatted(
                    Counted.of(speed.matched(), "candidate"), speed.faster(), speed.slower())));
    return tiles;
  }

  private record Category(String name, List<Row> rows) {
    /** The correct ones of one run: those of both, and {@code more}. */
    Cell correct(TaskOutcomes.Transition more) {
      long correct =
          rows.stream()
              .filter(row ->
                  row.transition() == TaskOutcomes.Transition.PERSISTENT
                      || row.transition() == more)
              .count();
      Rate rate = new Rate(correct, rows.size());
      return Cell.rate(correct, rows.size(), rate.value(), rate.low(), rate.high());
    }
  }

  private static Section categories(Comparison comparison) {
    Map<String, List<Row>> categories = new TreeMap<>();
    for (Row row : comparison.candidates()) {
      if (row.transition() == null) continue;
      categories.computeIfAbsent(row.category(), _ -> new ArrayList<>()).add(row);
    }
    List<Category> rows = new ArrayList<>();
    categories.forEach((name, own) -> rows.add(new Category(name, own)));
    List<Row> all = categories.values().stream().flatMap(List::stream).toList();
    if (!all.isEmpty()) rows.add(new Category("all", all));
    Blocks blocks = new Blocks();
    blocks.table(
        "by-category",
        "Correct, of the candidates that are paired and judged in both runs, with Wilson's 95 %"
            + " interval.",
        List.of(
            Column.text("category", Category::name),
            Column.number("then", each -> each.correct(TaskOutcomes.Transition.REGRESSED)),
            Column.<Category>number("now", each -> each.correct(TaskOutcomes.Transition.RESCUED))),
        rows);
    return blocks.section("categories", "By category");
  }

  private static Section kind(Kind kind, List<Row> rows, Function<Row, @Nullable String> changes) {
    String id = kind.name().toLowerCase(Locale.ROOT);
    List<Column.Of<Row>> columns = new ArrayList<>(columns(rows));
    if (rows.stream().anyMatch(row -> row.then().method() != null || row.now().method() != null)) {
      columns.add(
          Column.text(
              "method", row -> change(stated(row.then().method()), stated(row.now().method()))));
    }
    Blocks blocks = new Blocks();
    blocks.table(id, "", columns, rows);
    for (Row row : rows) {
      String diff = changes.apply(row);
      if (diff != null) blocks.add(new Block.Diff("Changes of " + name(row), diff));
    }
    return blocks.section(id, kind.title + ": " + Counted.of(rows.size(), "candidate"));
  }

  private static String stated(@Nullable String method) {
    return Objects.requireNonNullElse(method, Filters.NONE);
  }

  // ---------------------------------------------------------------- tasks

  private void tasks() {
    TaskOutcomes tasks = comparison.tasks();
    blocks.note(
        "Tasks judged in both: %d, of them rescued %d, regressed %d, persistent %d, unresolved %d."
            .formatted(
                tasks.compared(),
                tasks.rescued(),
                tasks.regressed(),
                tasks.persistent(),
                tasks.unresolved()));
    if (comparison.candidates().stream().anyMatch(row -> row.sample() > 0)) {
      blocks.note(candidates(comparison));
    }
    count(tasks.notJudged(), "Tasks in both runs without judged candidates to compare");
    count(tasks.onlyThen(), "Tasks only in the first run");
    count(tasks.onlyNow(), "Tasks only in the second run");
    count(
        tasks.unevenTries(),
        "Tasks with more candidates in one run than in the other (as many of each are compared)");
    count(comparison.onlyThen(), "Candidates of the first run without a partner");
    count(comparison.onlyNow(), "Candidates of the second run without a partner");
    blocks.note("McNemar, exact: " + mcnemar(tasks));
  }

  /**
   * A task of several candidates is right if one of them is: what became of each is another tally.
   */
  private static String candidates(Comparison comparison) {
    long rescued = comparison.candidates(TaskOutcomes.Transition.RESCUED);
    long regressed = comparison.candidates(TaskOutcomes.Transition.REGRESSED);
    long persistent = comparison.candidates(TaskOutcomes.Transition.PERSISTENT);
    long unresolved = comparison.candidates(TaskOutcomes.Transition.UNRESOLVED);
    return "A task is right if one of its candidates is. Candidates judged in both: %d, of them rescued %d, regressed %d, persistent %d, unresolved %d."
        .formatted(
            rescued + regressed + persistent + unresolved,
            rescued,
            regressed,
            persistent,
            unresolved);
  }

  private void general() {
    Comparison.General general = comparison.general();
    if (general.then() == null && general.now() == null) return;
    blocks.note(
        "Correct at the general grade: then %s, now %s."
            .formatted(general(general.then()), general(general.now())));
  }

  private static String general(Grades.@Nullable GeneralRate rate) {
    if (rate == null || rate.of() == null) return "unknown";
    return "%d of %s".formatted(rate.correct(), Counted.of(rate.of(), "candidate"))
        + (rate.share() == null
            ? ""
            : ", " + Cell.share(rate.share(), rate.low(), rate.high()).text());
  }

  private void count(int count, String of) {
    if (count > 0) blocks.note(of + ": " + count + ".");
  }

  private static String mcnemar(TaskOutcomes tasks) {
    if (tasks.rescued() + tasks.regressed() == 0) return "no task tells the runs apart.";
    TaskOutcomes.Test test = tasks.mcnemar();
    return "%s, odds ratio rescued ÷ regressed %s."
        .formatted(
            Captions.p(test.pValue()),
            Cell.odds(
                    test.oddsRatio() == null ? (Double) Double.POSITIVE_INFINITY : test.oddsRatio(),
                    test.low(),
                    test.high() == null ? (Double) Double.POSITIVE_INFINITY : test.high())
                .text());
  }

  private void speed() {
    comparison.untimed().forEach((run, why) -> blocks.note("Run %s: %s.".formatted(run, why)));
    for (Outcome why : List.of(Outcome.OTHER_DEVICE, Outcome.OTHER_BASELINE, Outcome.OTHER_SIZES)) {
      long count =
          comparison.candidates().stream()
              .filter(row -> row.speed() != null && row.speed().outcome() == why)
              .count();
      count(Math.toIntExact(count), "Correct in both, not compared: " + words(why));
    }
    Comparison.MatchedSpeed speed = comparison.speed();
    if (speed == null) {
      if (comparison.untimed().isEmpty()) {
        blocks.note("No candidate is correct in both runs and timed alike.");
      }
      return;
    }
    blocks.note(
        "Candidates correct in both and timed alike: %d, of them faster %d, slower %d, the same %d."
            .formatted(speed.matched(), speed.faster(), speed.slower(), speed.same()));
    Comparison.MatchedSpeed.SetMean set = speed.set();
    blocks.note(
        "Change of a task, speedup now ÷ then: geometric mean over tasks %s."
            .formatted(mean(speed.change())));
    blocks.note(
        ("Mean over candidates: %s of %d → %s of %d, %s by the change of those in both × %s by"
                + " composition.")
            .formatted(
                Cell.ratio(set.then()).text(),
                set.candidatesThen(),
                Cell.ratio(set.now()).text(),
                set.candidatesNow(),
                Cell.ratio(set.change()).text(),
                Cell.ratio(set.composition()).text()));
    floors();
  }

  /** One noise floor for each GPU if the run used several. */
  private void floors() {
    String apart = "Faster, slower: the 95 % intervals [ ] do not overlap";
    List<NoiseFloor> floors = comparison.noiseFloors();
    int unknown = comparison.withoutFloor().size();
    if (floors.isEmpty()) {
      blocks.note(apart + "; the noise floor is not known ('kbx bench noise').");
    } else if (floors.size() == 1 && unknown == 0) {
      blocks.note(apart + " and differ by more than the noise floor, " + floor(floors.getFirst()));
    } else {
      blocks.note(apart + " and differ by more than the noise floor of the GPU:");
      for (NoiseFloor floor : floors) {
        blocks.note(floor.device().uuid() + ": " + floor(floor));
      }
      for (String gpu : comparison.withoutFloor()) {
        blocks.note(gpu + ": not known ('kbx bench noise').");
      }
    }
  }

  private static String floor(NoiseFloor floor) {
    return "%s for sizes from %s."
        .formatted(
            Cell.fine(floor.ofTwo(), false).text(), Cell.seconds(floor.fromMs() / 1000).text());
  }

  private static String mean(Portability.Mean mean) {
    return Cell.ratio(mean.value(), mean.low(), mean.high()).text();
  }
}
