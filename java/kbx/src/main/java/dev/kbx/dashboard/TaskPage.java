package dev.kbx.dashboard;

import dev.kbx.prompt.Statement;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.Filter;
import dev.kbx.store.VerdictQueries.Order;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One task: what is asked, the best kernels over time, what breaks. */
record TaskPage(VerdictQueries queries, Task task, Statement statement) {
  private static final int NEWEST = 30;
  private static final int LOOKED_AT = 300;

  Markup body() {
    Map<Status, Integer> statuses = queries.statuses(task.suite(), task.category(), task.name());
    Filter own = Filter.ofTask(task.suite(), task.category(), task.name());
    Markup verdicts =
        statuses.isEmpty()
            ? Parts.none("No verdict on a kernel for this task.")
            : best()
                .and(
                    Parts.section(
                        "breaks", "What candidates come to", Parts.statuses(statuses, "")))
                .and(RunPage.propertiesOf(queries.page(own, Order.NEWEST, 0, LOOKED_AT)))
                .and(
                    Parts.section(
                        "newest",
                        "Newest verdicts",
                        Parts.verdicts(queries.page(own, Order.NEWEST, 0, NEWEST), true)));
    return head().and(verdicts);
  }

  private Markup head() {
    return Markup.of(
        """
        <pre class="signature">%s</pre>
        <p class="actions"><a class="button" href="%s">Submit a kernel</a></p>
        <details class="prompt"><summary>Prompt</summary><pre class="output" tabindex="0" role="group" aria-label="Prompt">%s</pre></details>
        """,
        task.signature(),
        Links.query(
            "/submit", List.of(Map.entry("suite", task.suite()), Map.entry("task", task.path()))),
        statement.general(task, Policy.usual(task), null));
  }

  /** Steps of the largest speedup, for each device. */
  private Markup best() {
    List<Placed> records = queries.records(task.suite(), task.category(), task.name());
    if (records.isEmpty()) return Markup.NONE;
    Map<String, List<Placed>> devices = new LinkedHashMap<>();
    for (Placed each : records) {
      devices
          .computeIfAbsent(each.verdict().device().name(), _ -> new ArrayList<>())
          .addFirst(each);
    }
    return Parts.section(
        "best",
        "Best kernels over time",
        Markup.each(devices.entrySet(), each -> of(each.getKey(), each.getValue()))
            .and(
                new Markup(
                    "<p class=\"legend\">Each was faster than all before it on its device. A step"
                        + " whose interval overlaps the one before may be chance.</p>")));
  }

  private static Markup of(String device, List<Placed> newestFirst) {
    double most = newestFirst.stream().mapToDouble(each -> speed(each.verdict())).max().orElse(1);
    return Markup.of(
        """
        <h3>%s</h3>
        <table class="listed records">
        <thead><tr><th scope="col">Run</th><th scope="col">Method</th><th scope="col">Speedup</th><th scope="col">Against</th></tr></thead>
        <tbody>%s</tbody></table>
        """,
        device, Markup.each(newestFirst, each -> step(each, most)));
  }

  private static double speed(BriefVerdict verdict) {
    return verdict.speedup() == null ? 0 : verdict.speedup().value();
  }

  private static Markup step(Placed placed, double most) {
    BriefVerdict v = placed.verdict();
    return Markup.of(
        """
        <tr><th scope="row">%s</th><td data-name="Method">%s</td><td data-name="Speedup"><span class="rate"><b>%s×</b>\
        <svg class="bar good" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8"/><rect class="fill" width="%s" height="8"/></svg>\
        <span></span><small>%s</small></span></td><td data-name="Against">%s</td></tr>
        """,
        Parts.link(Links.candidate(v, placed.position()), v.run()),
        Parts.maker(v.method(), v.model()),
        Parts.two(speed(v)),
        Parts.two(100 * speed(v) / most),
        v.speedup() == null
            ? ""
            : Parts.two(v.speedup().low()) + "–" + Parts.two(v.speedup().high()) + "×",
        v.speedup() == null ? "" : v.speedup().baseline());
  }
}
