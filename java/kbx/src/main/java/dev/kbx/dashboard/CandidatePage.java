package dev.kbx.dashboard;

import dev.kbx.report.Components;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.verdict.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One source: what waits, its verdict, its history.
 *
 * @param verdict the one that is shown whole; null if there is none yet
 * @param run title of the verdict's run; empty without a verdict
 * @param source null if it is not known
 * @param history verdicts on it, newest first
 */
record CandidatePage(
    @Nullable Verdict verdict,
    String run,
    @Nullable String source,
    List<Placed> history,
    List<Pending> pending) {
  Markup body() {
    return Markup.each(pending, CandidatePage::waiting)
        .and(whole())
        .and(
            history.size() < 2
                ? Markup.NONE
                : Parts.section(
                    "history", "Verdicts on this source", Parts.verdicts(history, true)));
  }

  /** The page's script asks for the state again while it is open. */
  private static Markup waiting(Pending each) {
    return Markup.of(
        """
        <section class="tile waiting %s" aria-live="polite"%s>
        <h2>%s</h2>
        <p class="figure" data-state>%s</p>
        <p data-detail>%s</p>
        </section>
        """,
        each.isOpen() ? "" : "ended",
        each.isOpen() ? Markup.of(" data-judgement=\"%s\"", each.id()) : "",
        each.task(),
        each.state(),
        detail(each));
  }

  private static String detail(Pending each) {
    if (each.message() != null) return each.message();
    if (each.ahead() == null) return "in run " + each.run();
    return each.ahead() == 0 ? "next in the queue" : each.ahead() + " ahead in the queue";
  }

  private Markup whole() {
    if (verdict == null) {
      return source == null ? Markup.NONE : Parts.section("source", "Source", plain(source));
    }
    return Markup.of(
        """
        <dl class="facts">%s</dl>
        <section><h2>Verdict and source</h2><div id="candidate"></div></section>
        <noscript><p class="reason">%s %s</p>%s</noscript>
        <script type="application/json" id="data">%s</script>
        """,
        Markup.each(
            List.of(
                Parts.fact(
                    "Task",
                    Parts.link(
                        Links.task(
                            verdict.provenance().suite(),
                            verdict.provenance().category(),
                            verdict.provenance().task()),
                        verdict.provenance().category() + "/" + verdict.provenance().task())),
                Parts.fact("Run", Parts.link(Links.run(verdict.provenance().run()), run)),
                Parts.fact(
                    "Grade",
                    verdict.judgement().grade() == null
                        ? "not stated"
                        : verdict.judgement().grade()),
                Parts.fact("Device", verdict.judgement().device().name())),
            fact -> fact),
        verdict.judgement().status().label(),
        verdict.judgement().message(),
        source == null ? Markup.NONE : plain(source),
        new Markup(Components.details(verdict, source)));
  }

  private static Markup plain(String source) {
    return Markup.of(
        "<pre class=\"output\" tabindex=\"0\" role=\"group\" aria-label=\"Source\">%s</pre>",
        source);
  }
}
