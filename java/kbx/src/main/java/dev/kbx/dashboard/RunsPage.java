package dev.kbx.dashboard;

import dev.kbx.report.Components;
import dev.kbx.stats.Rate;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.RunCounts;
import dev.kbx.verdict.RunInfo;
import java.util.List;
import java.util.Map;

/** Runs as a table, and those in progress as cards. */
record RunsPage(VerdictQueries queries) {
  private static final int SIZE = 50;
  private static final int LIVE = 12;

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
    return Markup.of(
        """
        <form action="/compare" method="get">
        <table class="runs">
        <thead><tr><th scope="col">Run</th><th scope="col">Suite</th><th scope="col">Device</th>\
        <th scope="col" class="number">Verdicts</th><th scope="col">Correct</th><th scope="col">Grade</th>\
        <th scope="col">Compare</th></tr></thead>
        <tbody>
        %s
        </tbody>
        </table>
        <p class="actions"><button>Compare A with B</button></p>
        </form>
        """,
        Markup.each(runs, run -> row(run, counts.getOrDefault(run.id(), RunCounts.NONE))));
  }

  private static Markup row(RunInfo run, RunCounts counts) {
    return Markup.of(
        """
        <tr><th scope="row"><a href="%s">%s</a><small>%s%s</small></th><td data-name="Suite">%s</td>\
        <td data-name="Device">%s</td><td class="number" data-name="Verdicts">%,d</td>\
        <td data-name="Correct">%s</td><td data-name="Grade">%s</td>\
        <td class="pick" data-name="Compare"><label><input type="radio" name="a" value="%s"> A</label> \
        <label><input type="radio" name="b" value="%s"> B</label></td></tr>
        """,
        Links.run(run.id()),
        run.id(),
        Parts.time(run.started()),
        run.finished() == null ? ", not finished" : "",
        run.suite(),
        run.device().name(),
        counts.verdicts(),
        share(counts),
        run.published() == null ? run.grade() : "as published",
        run.id(),
        run.id());
  }

  private static Markup share(RunCounts counts) {
    if (counts.judged() == 0) return new Markup("<span class=\"unknown\">–</span>");
    Rate rate = new Rate(counts.correct(), counts.judged());
    return Markup.of(
        "<span class=\"rate\"><b>%s</b>%s<span>%s</span><small>%s</small></span>",
        rate.passes() + "/" + rate.total(),
        new Markup(Components.bar(rate)),
        Components.percent(rate.value()),
        Components.interval(rate));
  }

  /** Runs in progress; the page's script follows their events. */
  Markup live() {
    List<RunInfo> runs = queries.unfinished(LIVE);
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
        run.id(),
        run.suite(),
        run.device().name(),
        Math.max(1, total),
        counts.verdicts(),
        counts.verdicts(),
        total,
        counts.correct());
  }
}
