package dev.kbx.dashboard;

import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.RunCounts;
import dev.kbx.verdict.RunInfo;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Runs as a table, and those in progress as cards.
 *
 * @param idle whether nothing of a run without an end is queued or being judged
 */
record RunsPage(VerdictQueries queries, Predicate<RunInfo> idle) {
  private static final int SIZE = 50;
  private static final int LIVE = 12;

  /** Those without an end among which they are looked for. */
  private static final int UNFINISHED = 100;

  /** How many runs follow their events: a browser keeps six connections to a server. */
  private static final int FOLLOWED = 3;

  /** A stream of events begins with the verdicts that there are; of more it is too long. */
  private static final int REPLAYED = 2_000;

  Markup all(int page) {
    List<RunInfo> runs = queries.runs(page * SIZE, SIZE);
    if (runs.isEmpty()) return Parts.none("No runs.");
    return table(runs).and(Parts.pages("/runs", List.of(), page, SIZE, queries.runs()));
  }

  /** The newest few. */
  Markup newest(int most) {
    List<RunInfo> runs = queries.runs(0, most);
    return runs.isEmpty()
        ? Parts.none("No runs yet. Submit a kernel, or judge files with kbx eval.")
        : table(runs);
  }

  private Markup table(List<RunInfo> runs) {
    Map<String, RunCounts> counts = queries.counts(runs.stream().map(RunInfo::id).toList());
    Function<RunInfo, RunCounts> of = run -> counts.getOrDefault(run.id(), RunCounts.NONE);
    boolean named = runs.stream().anyMatch(run -> run.name() != null);
    return Parts.table(
            "runs",
            "",
            List.of(
                Parts.links(
                    named ? "name or id" : "run",
                    run -> run.name() == null ? run.id() : run.name(),
                    run -> Links.run(run.id())),
                Column.text("started", run -> Cell.time(run.started()).text() + state(run)),
                Column.text("suite", RunInfo::suite),
                Column.text("device", run -> run.device().name()),
                Column.number("verdicts", run -> Cell.count(of.apply(run).verdicts())),
                Column.number(
                    "correct", run -> Parts.rate(of.apply(run).correct(), of.apply(run).judged())),
                Column.<RunInfo>text(
                    "grade", run -> run.published() == null ? run.grade() : "as published")),
            runs)
        .and(comparison(runs));
  }

  private String state(RunInfo run) {
    if (run.finished() != null) return "";
    return idle.test(run) ? ", none waiting" : ", not finished";
  }

  private static Markup comparison(List<RunInfo> runs) {
    if (runs.size() < 2) return Markup.NONE;
    return Markup.of(
        "<form class=\"tools\" action=\"/compare\""
            + " method=\"get\">%s%s<button>Compare</button></form>",
        choice("a", "Then", runs, runs.get(1)), choice("b", "Now", runs, runs.getFirst()));
  }

  private static Markup choice(String name, String title, List<RunInfo> runs, RunInfo chosen) {
    return Markup.of(
        "<label>%s <select name=\"%s\">%s</select></label>",
        title,
        name,
        Markup.each(
            runs,
            run ->
                Markup.of(
                    "<option value=\"%s\"%s>%s</option>",
                    run.id(), run.equals(chosen) ? new Markup(" selected") : "", run.title())));
  }

  /** Runs in progress; the page's script follows their events. */
  Markup live() {
    List<RunInfo> runs =
        queries.unfinished(UNFINISHED).stream().filter(idle.negate()).limit(LIVE).toList();
    if (runs.isEmpty()) return Parts.none("Nothing is being judged.");
    Map<String, RunCounts> counts = queries.counts(runs.stream().map(RunInfo::id).toList());
    int followed = 0;
    StringBuilder cards = new StringBuilder();
    for (RunInfo run : runs) {
      RunCounts own = counts.getOrDefault(run.id(), RunCounts.NONE);
      cards.append(card(run, own, followed++ < FOLLOWED).html());
    }
    return Markup.of("<div class=\"live\">%s</div>", new Markup(cards.toString()));
  }

  private static Markup card(RunInfo run, RunCounts counts, boolean followed) {
    int total = Math.max(run.candidates(), counts.verdicts());
    return Markup.of(
        """
        <article class="tile" %s>
        <h3><a href="%s">%s</a></h3>
        <p>%s on %s</p>
        <progress max="%s" value="%s" aria-label="Judged"></progress>
        <p><b data-count="judged">%s</b> of <b data-count="total">%s</b> judged, \
        <b data-count="correct">%s</b> correct</p>
        <p class="last" data-last></p>
        </article>
        """,
        followed && counts.verdicts() <= REPLAYED
            ? Markup.of(
                "data-events=\"/v1/runs/%s/events?follow=true\" data-correct=\"%s\"",
                Links.encoded(run.id()), counts.correct())
            : "",
        Links.run(run.id()),
        run.title(),
        run.suite(),
        run.device().name(),
        Math.max(1, total),
        counts.verdicts(),
        counts.verdicts(),
        total,
        counts.correct());
  }
}
