package dev.kbx.store;

import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Keeps the number of verdicts of each kind beside them, in their transaction. */
final class VerdictCounts {
  private final Database database;

  VerdictCounts(Database database) {
    this.database = database;
  }

  /** Counts a verdict that is stored. */
  void add(Handle t, Verdict verdict) {
    change(
        t,
        verdict,
        verdict.status(),
        1,
        Boolean.TRUE.equals(verdict.callOk()) ? 1 : 0,
        Boolean.TRUE.equals(verdict.generalOk()) ? 1 : 0,
        verdict.speedup() == null ? 0 : 1);
  }

  /**
   * Takes off the {@code infrastructure} verdict on the same candidate, which is gone. It stays
   * among those that were called: of that status nobody asks it.
   */
  void takeOff(Handle t, Verdict verdict) {
    change(t, verdict, Status.INFRASTRUCTURE, -1, 0, 0, 0);
  }

  private void change(
      Handle t, Verdict verdict, Status status, int verdicts, int called, int general, int timed) {
    t.createUpdate(
            """
            INSERT INTO verdict_count (run, suite, category, task, method, model, status,
              verdicts, called, general, timed)
            VALUES (:run, :suite, :category, :task, :method, :model, :status,
              :verdicts, :called, :general, :timed)
            ON CONFLICT (run, category, task, method, model, status) DO UPDATE SET
              verdicts = verdict_count.verdicts + excluded.verdicts,
              called = verdict_count.called + excluded.called,
              general = verdict_count.general + excluded.general,
              timed = verdict_count.timed + excluded.timed
            """)
        .bind("run", verdict.run())
        .bind("suite", verdict.suite())
        .bind("category", verdict.category())
        .bind("task", verdict.task())
        .bind("method", stated(verdict.method()))
        .bind("model", stated(verdict.model()))
        .bind("status", status.label())
        .bind("verdicts", verdicts)
        .bind("called", called)
        .bind("general", general)
        .bind("timed", timed)
        .execute();
  }

  private String stated(@Nullable String name) {
    return database.stored(Objects.requireNonNullElse(name, ""));
  }
}
