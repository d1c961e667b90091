package dev.kbx.server;

import dev.kbx.app.ChosenSuite;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunPlan;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.plan.Plan;
import dev.kbx.run.StandingRun;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.store.Stored;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The runs that the service judges into: one for each name, suite with the content of its files,
 * plan, kernels of experts, model and driver of the device, and versions.
 */
final class OpenRuns {
  private final RunStore store;
  private final Machine machine;
  private final Listener listener;
  private final JudgingConditions here;
  private final Map<String, String> ids = new HashMap<>();
  private final Map<String, String> digests = new HashMap<>();
  private final Map<String, StandingRun> open = new HashMap<>();

  /** Receives every verdict, from several threads. */
  interface Listener {
    /** As {@link StandingRun.Listener#verdict}, of one of the runs. */
    void verdict(String run, Stored stored, Verdict verdict, boolean replaces, boolean known);
  }

  OpenRuns(RunStore store, Machine machine, Listener listener) {
    this.store = store;
    this.machine = machine;
    this.listener = listener;
    this.here = new JudgingConditions(machine.device(), machine.versions()).onAnyCard();
  }

  /** The id of the run for a client's name, which is begun if there is none. */
  synchronized String id(String name, Suite suite, Plan plan) {
    String text = Plans.text(plan);
    Plan beside = machine.beside(suite, plan);
    String settings =
        DigestUtils.sha256Hex(
            List.of(
                    name,
                    suite.name(),
                    digests.computeIfAbsent(suite.name(), _ -> suite.digest()),
                    text,
                    plan.secret(),
                    new TreeMap<>(beside.experts()),
                    here.device(),
                    new TreeMap<>(here.versions()))
                .toString());
    return ids.computeIfAbsent(
        settings,
        _ ->
            store
                .service()
                .serviceRun(settings)
                .map(ServiceRun::run)
                .orElseGet(() -> {
                  RunInfo run = info(name, suite, beside);
                  store.service().begin(new ServiceRun(settings, run.id(), name, text), run);
                  return run.id();
                }));
  }

  private RunInfo info(String name, Suite suite, Plan plan) {
    ChosenSuite served = new ChosenSuite(suite.name(), suite, null);
    return new RunPlan(served, "*", suite.tasks(), plan, List.of(), new RunLabel(name, null))
        .run(
            ResultsFolder.nextRun(),
            List.of(name),
            machine.device(),
            machine.versions(),
            0,
            List.of());
  }

  /** What judges candidates of a run. */
  synchronized StandingRun of(String run) {
    StandingRun known = open.get(run);
    if (known != null) return known;
    ServiceRun settings = store.service().serviceRunOf(run).orElseThrow();
    Plan plan = Plans.of(Json.mapper().readTree(settings.plan()), machine.secret());
    Suite suite = machine.suite(store.run(run).orElseThrow().suite()).orElseThrow();
    StandingRun opened =
        new StandingRun(
            store,
            machine.referee(),
            machine.beside(suite, plan),
            run,
            (stored, verdict, replaces, remembered) ->
                listener.verdict(run, stored, verdict, replaces, remembered));
    open.put(run, opened);
    return opened;
  }
}
