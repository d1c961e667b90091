package dev.kbx.dashboard;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.report.Answer;
import dev.kbx.section.PropertiesSection;
import dev.kbx.section.RatesSection;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.CategoryCounts;
import dev.kbx.store.VerdictQueries.Filter;
import dev.kbx.store.VerdictQueries.Names;
import dev.kbx.store.VerdictQueries.Order;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.store.VerdictQueries.RunCounts;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run: what it answers, what breaks, its candidates.
 *
 * @param idle whether nothing of it is queued or being judged, although it has no end
 * @param answer null if there is none yet, or too much to be read for a page
 */
record RunPage(
    VerdictQueries queries,
    RunInfo run,
    RunView view,
    Viewer viewer,
    boolean idle,
    @Nullable Answer answer) {
  private static final int SIZE = 50;

  /** How many verdicts the table of properties is made from. */
  private static final int LOOKED_AT = 200;

  /**
   * Number of candidates above which a whole report is a long download; the command line makes it.
   */
  static final int REPORTED = 20_000;

  Markup body() {
    RunCounts counts = queries.counts(List.of(run.id())).getOrDefault(run.id(), RunCounts.NONE);
    Markup more =
        counts.verdicts() == 0
            ? Parts.none("No verdict yet.")
            : opening(counts)
                .and(properties(counts))
                .and(Parts.section("candidates", "Candidates", candidates(counts)));
    return lead().and(note()).and(facts(counts)).and(label()).and(more);
  }

  /** The finding in words. */
  private Markup lead() {
    if (answer == null) return Markup.NONE;
    String who = answer.headline() == null ? "" : answer.headline() + ". ";
    String words = who + answer.evidence();
    return words.isEmpty() ? Markup.NONE : Markup.of("<p class=\"lead\">%s</p>", words);
  }

  private Markup note() {
    return run.note() == null
        ? Markup.NONE
        : Markup.of("<p class=\"remark said\">%s</p>", run.note());
  }

  /** The form that changes name and note, for who may. */
  private Markup label() {
    if (!viewer.submits()) return Markup.NONE;
    return Markup.of(
        """
        <details class="label"><summary>Name and note</summary>
        <form class="submit" method="post" action="%s">
        <input type="hidden" name="csrf" value="%s">
        <label>Name <input name="name" maxlength="%s" value="%s" autocomplete="off"></label>
        <label class="wide">Note <textarea name="note" maxlength="%s" rows="4">%s</textarea></label>
        <p class="actions"><button class="button">Save</button></p>
        </form>
        </details>
        """,
        Links.run(run.id()), viewer.csrf(), RunLabel.NAME, run.name(), RunLabel.NOTE, run.note());
  }

  /** Several methods or models are never one figure. */
  private Markup opening(RunCounts counts) {
    if (answer != null && answer.compared() != null) {
      return Markup.each(answer.ranked(), this::linked).and(linked(answer.why()));
    }
    Names names = queries.names(run.id());
    Markup why =
        answer == null ? linked(RatesSection.statuses(counts.statuses())) : linked(answer.why());
    if (names.methods().size() > 1 || names.models().size() > 1) {
      return why.and(
          Parts.note("Several methods or models: kbx analyze methods has the rates of each."));
    }
    return tiles(counts)
        .and(why)
        .and(Parts.section("categories", "By category", categories(counts)));
  }

  private Markup linked(Section section) {
    return section.blocks().isEmpty()
        ? Markup.NONE
        : new Markup(HtmlRenderer.render(section, Links.run(run.id()) + "?"));
  }

  private Markup facts(RunCounts counts) {
    Markup report =
        counts.verdicts() <= REPORTED
            ? Parts.link("/v1/runs/%s/report".formatted(Links.encoded(run.id())), "open")
            : Markup.of("%s", "kbx report " + run.id());
    return Markup.of(
        "<dl class=\"facts\">%s</dl>",
        Markup.each(
            List.of(
                Parts.fact(
                    "Suite", run.suite() + (run.tasks().equals("*") ? "" : ", " + run.tasks())),
                Parts.fact("Device", run.device().name()),
                Parts.fact("Started", Parts.time(run.started())),
                Parts.fact(
                    "Took",
                    run.finished() == null
                        ? idle
                            ? "%,d judged, none waiting".formatted(counts.verdicts())
                            : "not finished"
                        : Parts.lasted(Duration.between(run.started(), run.finished()))),
                Parts.fact("Grade", run.grade()),
                Parts.fact(
                    "Stages",
                    run.stages().stream().map(Stage::label).collect(Collectors.joining(" → "))),
                Parts.fact("Full report", report)),
            fact -> fact));
  }

  private Markup tiles(RunCounts counts) {
    String judged = "judged candidates";
    List<Tile> tiles = new ArrayList<>();
    tiles.add(Parts.rate("Called", counts.called(), counts.judged(), judged));
    String correct = run.hasTwoGrades() ? "Correct, published grade" : "Correct";
    tiles.add(Parts.rate(correct, counts.correct(), counts.judged(), judged));
    if (run.hasTwoGrades()) {
      tiles.add(Parts.rate("Correct, general grade", counts.general(), counts.judged(), judged));
    }
    tiles.add(
        answer == null
            ? new Tile("Tasks solved", Cell.count(counts.solved()), "of those tried")
            : Parts.rate("Tasks solved", counts.solved(), answer.finding().tasks(), "tasks tried"));
    tiles.add(
        counts.timed() == 0
            ? new Tile("Timed", Cell.text("none"), "no speedups in this run")
            : Parts.rate("Timed", counts.timed(), counts.judged(), judged));
    if (counts.judged() != counts.verdicts()) {
      tiles.add(
          new Tile(
              "Not judged",
              Cell.count(counts.verdicts() - counts.judged()),
              "task or kbx at fault; not in the rates"));
    }
    return Parts.tiles("rates", "Rates", tiles);
  }

  private Markup categories(RunCounts counts) {
    return Parts.table(
        "by-category",
        "",
        List.of(
            Parts.links(
                "category",
                CategoryCounts::category,
                each ->
                    Links.query(Links.run(run.id()), List.of(Map.entry("task", each.category())))),
            Column.<CategoryCounts>number(
                "correct, of those judged", each -> Parts.rate(each.correct(), each.judged()))),
        counts.categories().stream().filter(each -> each.judged() > 0).toList());
  }

  private Markup properties(RunCounts counts) {
    List<Placed> some = queries.page(Filter.ofRun(run.id()), Order.NEWEST, 0, LOOKED_AT);
    Markup tables = propertiesOf(some);
    return counts.verdicts() <= LOOKED_AT || tables.html().isEmpty()
        ? tables
        : tables.and(
            Markup.of(
                "<p class=\"legend\">Of the last %s; the full report has all.</p>",
                Counted.of(LOOKED_AT, "verdict")));
  }

  /** Where kernels hold and break, by task and property; empty where nothing was asked. */
  static Markup propertiesOf(List<Placed> placed) {
    Section section =
        PropertiesSection.of(placed.stream().map(each -> VerdictRow.of(each.verdict())).toList());
    return section.blocks().isEmpty() ? Markup.NONE : Parts.section(section);
  }

  private Markup candidates(RunCounts counts) {
    Filter filter = view.filter(run.id());
    int total = view.isAll() ? counts.verdicts() : queries.count(filter);
    List<Placed> page = queries.page(filter, Order.POSITION, view.page() * SIZE, SIZE);
    return filters(counts, total)
        .and(Parts.verdicts(page, false))
        .and(Parts.pages(Links.run(run.id()), view.parameters(), view.page(), SIZE, total));
  }

  private Markup filters(RunCounts counts, int total) {
    Names names = queries.names(run.id());
    return Markup.of(
        """
        <form class="tools" method="get" action="%s#candidates">
        <label class="search">Task <input type="search" name="task" value="%s" placeholder="Category, or Category/task" list="categories-known" autocomplete="off"></label>
        <datalist id="categories-known">%s</datalist>
        %s%s%s
        <button>Show</button>%s
        <output>%s</output>
        </form>
        """,
        Links.run(run.id()),
        view.task(),
        Markup.each(
            counts.categories(),
            each -> Markup.of("<option value=\"%s\"></option>", each.category())),
        select(
            "status",
            "Status",
            view.status(),
            Arrays.stream(Status.values())
                .map(Status::label)
                .sorted(Comparator.naturalOrder())
                .toList()),
        select("method", "Method", view.method(), names.methods()),
        select("model", "Model", view.model(), names.models()),
        view.isAll() ? "" : Parts.link(Links.run(run.id()) + "#candidates", "Show all"),
        Counted.of(total, "candidate"));
  }

  private static Markup select(String name, String title, String chosen, List<String> values) {
    if (values.size() < 2) return Markup.NONE;
    return Markup.of(
        "<label>%s <select name=\"%s\"><option value=\"\">all</option>%s</select></label>",
        title,
        name,
        Markup.each(
            values,
            value ->
                Markup.of(
                    "<option value=\"%s\"%s>%s</option>",
                    value.isEmpty() ? "-" : value,
                    chosen.equals(value.isEmpty() ? "-" : value) ? new Markup(" selected") : "",
                    value.isEmpty() ? "not stated" : value)));
  }
}
