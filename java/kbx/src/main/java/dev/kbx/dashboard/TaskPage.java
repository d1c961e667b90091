package dev.kbx.dashboard;

import dev.kbx.document.Block;
import dev.kbx.document.Column;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.prompt.Statement;
import dev.kbx.section.RatesSection;
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
import org.jspecify.annotations.Nullable;

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
                .and(new Markup(HtmlRenderer.render(RatesSection.statuses(statuses))))
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
    List<Block> tables = new ArrayList<>();
    devices.forEach((device, newestFirst) ->
        tables.add(
            Block.Table.of(
                "best-" + (tables.size() + 1),
                "%s. Each was faster than all before it; a step whose interval overlaps the one before may be chance."
                    .formatted(device),
                List.of(
                    Parts.links(
                        "run",
                        each -> each.verdict().run(),
                        each -> Links.candidate(each.verdict(), each.position())),
                    Column.text(
                        "method",
                        each -> Parts.maker(each.verdict().method(), each.verdict().model())),
                    Column.number(
                        "speedup", each -> RatesSection.speedup(each.verdict().speedup())),
                    Column.<Placed>text("against", each -> against(each.verdict()))),
                newestFirst)));
    return Parts.section(new Section("best", "Best kernels over time", tables));
  }

  private static @Nullable String against(BriefVerdict verdict) {
    return verdict.speedup() == null ? null : verdict.speedup().baseline();
  }
}
