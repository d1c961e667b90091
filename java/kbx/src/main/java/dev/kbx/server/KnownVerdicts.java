package dev.kbx.server;

import dev.kbx.store.ServiceStore;
import dev.kbx.store.Submission;
import dev.kbx.task.Task;
import dev.kbx.verdict.CandidateIdentity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Verdicts that answer for a candidate that comes again. Where a task's code may read other files
 * than its own none does, as these may have changed. Safe for several threads.
 */
final class KnownVerdicts {
  private final ServiceStore store;
  private final Machine machine;
  private final Map<Task, Boolean> closed = new ConcurrentHashMap<>();

  KnownVerdicts(ServiceStore store, Machine machine) {
    this.store = store;
    this.machine = machine;
  }

  /** Whether a verdict on a candidate of this task answers for the next one. */
  boolean answerOn(Task task) {
    return closed.computeIfAbsent(task, each -> each.contents().isPresent());
  }

  private boolean answerFor(CandidateIdentity identity) {
    return machine.task(identity.suite(), identity.task()).map(this::answerOn).orElse(true);
  }

  /** Positions of such verdicts in the runs of submissions, by id. */
  Map<String, Integer> of(List<Submission> some) {
    Map<String, List<Submission>> byRun = new HashMap<>();
    for (Submission each : some) {
      if (!each.isTurn() && answerFor(each.identity())) {
        byRun.computeIfAbsent(each.run(), _ -> new ArrayList<>()).add(each);
      }
    }
    Map<String, Integer> found = new HashMap<>();
    byRun.forEach((run, those) -> {
      Map<CandidateIdentity, Integer> places =
          store.judged(run, those.stream().map(Submission::identity).toList());
      for (Submission each : those) {
        Integer place = places.get(each.identity());
        if (place != null) found.put(each.id(), place);
      }
    });
    return found;
  }
}
