package dev.kbx.dashboard;

import dev.kbx.document.Cell;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.TaskCounts;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The tasks of a suite by category, with how often each was solved. */
record TasksPage(VerdictQueries queries, List<Suite> suites) {
  /** Shades of the style sheet, from 0. */
  private static final int SHADES = 10;

  Markup body(Suite chosen) {
    Map<String, TaskCounts> counts = new HashMap<>();
    for (TaskCounts each : queries.tasks(chosen.name())) {
      counts.put(each.category() + "/" + each.task(), each);
    }
    Map<String, List<Task>> categories = new TreeMap<>();
    for (Task task : chosen.tasks()) {
      categories.computeIfAbsent(task.category(), _ -> new ArrayList<>()).add(task);
    }
    return others(chosen)
        .and(
            Markup.of(
                "<p class=\"legend\">Correct verdicts of all, each at the grade of its run, and the"
                    + " largest speedup of a correct one.</p>"))
        .and(
            Markup.each(
                categories.entrySet(),
                each ->
                    Markup.of(
                        "<section><h2 id=\"%s\">%s</h2><ul class=\"taskgrid\">%s</ul></section>",
                        each.getKey(),
                        each.getKey(),
                        Markup.each(
                            each.getValue(), task -> item(task, counts.get(task.path()))))));
  }

  private Markup others(Suite chosen) {
    if (suites.size() < 2) return Markup.NONE;
    return Markup.of(
        "<nav class=\"tabs\" aria-label=\"Suites\">%s</nav>",
        Markup.each(
            suites,
            suite ->
                Markup.of(
                    "<a href=\"%s\"%s>%s</a>",
                    Links.query("/tasks", List.of(Map.entry("suite", suite.name()))),
                    suite == chosen ? new Markup(" aria-current=\"page\"") : "",
                    suite.name())));
  }

  private static Markup item(Task task, @Nullable TaskCounts counts) {
    String address = Links.task(task.suite(), task.category(), task.name());
    if (counts == null) {
      return Markup.of(
          "<li class=\"h0\"><a href=\"%s\">%s</a><small>no verdict</small></li>",
          address, task.name());
    }
    return Markup.of(
        "<li class=\"%s\"><a href=\"%s\">%s</a><small>%,d of %,d%s</small></li>",
        shade((double) counts.correct() / counts.verdicts()),
        address,
        task.name(),
        counts.correct(),
        counts.verdicts(),
        counts.best() == null ? "" : " · " + Cell.ratio(counts.best()).text());
  }

  /** The style of a share. */
  private static String shade(double share) {
    return "h" + Math.round(share * SHADES);
  }
}
