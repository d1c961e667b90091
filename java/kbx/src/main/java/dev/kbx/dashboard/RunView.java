package dev.kbx.dashboard;

import dev.kbx.store.VerdictQueries.Filter;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which candidates of a run a page shows, as its address says; empty for all.
 *
 * @param task {@code Category/name}, or the category alone
 * @param method {@code -} where none is stated, as for {@code model}
 * @param page from 0
 */
public record RunView(String status, String task, String method, String model, int page) {
  private static final String NOT_STATED = "-";

  List<Map.Entry<String, String>> parameters() {
    return List.of(
        Map.entry("status", status),
        Map.entry("task", task),
        Map.entry("method", method),
        Map.entry("model", model));
  }

  boolean isAll() {
    return (status + task + method + model).isEmpty();
  }

  Filter filter(String run) {
    int slash = task.indexOf('/');
    String category = slash < 0 ? task : task.substring(0, slash);
    return new Filter(
        run,
        null,
        category.isEmpty() ? null : category,
        slash < 0 ? null : task.substring(slash + 1),
        wanted(),
        stated(method),
        stated(model));
  }

  /** Null for any, also where the address has no status. */
  private @Nullable Status wanted() {
    for (Status each : Status.values()) if (each.label().equals(status)) return each;
    return null;
  }

  private static @Nullable String stated(String name) {
    if (name.isEmpty()) return null;
    return name.equals(NOT_STATED) ? "" : name;
  }
}
