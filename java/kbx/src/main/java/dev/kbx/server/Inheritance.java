package dev.kbx.server;

import dev.kbx.judge.JudgingConditions;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.store.Submission;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides where what earlier servers left in the queue is judged. All verdicts of a run are of one
 * kind of device and of the same versions: what was accepted for others goes to a run of this
 * server. What this server cannot judge waits for one that can.
 */
final class Inheritance {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  private final RunStore store;
  private final Machine machine;
  private final OpenRuns runs;

  Inheritance(RunStore store, Machine machine, OpenRuns runs) {
    this.store = store;
    this.machine = machine;
    this.runs = runs;
  }

  /**
   * What is judged here, each in its run, and what waits for another server; stored so.
   *
   * @param judged in the order of acceptance
   */
  record Shares(List<Submission> judged, List<Submission> waiting) {}

  /** Divides what is queued. */
  Shares divide(List<Submission> queued) {
    Map<Origin, Place> places = new LinkedHashMap<>();
    Map<Origin, Integer> counts = new HashMap<>();
    List<Submission> judged = new ArrayList<>();
    List<Submission> waiting = new ArrayList<>();
    List<Submission> changed = new ArrayList<>();
    for (Submission each : queued) {
      Origin origin = Origin.of(each);
      Place place = places.computeIfAbsent(origin, this::place);
      Submission now = place.of(each);
      (place.waits() ? waiting : judged).add(now);
      if (!now.equals(each)) changed.add(now);
      counts.merge(origin, 1, Integer::sum);
    }
    store.service().assign(changed);
    places.forEach((origin, place) -> place.log(origin.run(), counts.getOrDefault(origin, 0)));
    return new Shares(judged, waiting);
  }

  /**
   * What submissions have in common.
   *
   * @param run that they are in
   * @param first that they were accepted for
   */
  private record Origin(String run, String first, String suite) {
    static Origin of(Submission each) {
      return new Origin(each.run(), each.firstRun(), each.identity().suite());
    }
  }

  /**
   * Where submissions of an origin go.
   *
   * @param why in words; empty if they stay
   */
  private record Place(String run, boolean waits, String why) {
    private static final String WAITS = "waits: ";

    Submission of(Submission each) {
      if (waits) return each.in(run, WAITS + why);
      if (!each.run().equals(run)) return moved(each);
      String message = each.outcome().message();
      return message != null && message.startsWith(WAITS) ? each.in(run, null) : each;
    }

    private Submission moved(Submission each) {
      String first = each.firstRun();
      return each.in(
          run,
          first.equals(run)
              ? null
              : "accepted for run %s, judged in run %s: %s".formatted(first, run, why));
    }

    void log(String from, int count) {
      if (why.isEmpty()) return;
      String what = waits ? "wait" : "are judged in run " + run;
      LOG.log(
          System.Logger.Level.WARNING,
          "%d queued for run %s %s: %s".formatted(count, from, what, why));
    }
  }

  private Place place(Origin origin) {
    String run = origin.run();
    Optional<Suite> suite = machine.suite(origin.suite());
    if (suite.isEmpty()) {
      return waits(run, "this server does not serve the suite '%s' (--suite)", origin.suite());
    }
    ServiceRun settings = store.service().serviceRunOf(run).orElseThrow();
    Plan plan;
    try {
      plan = Plans.of(Json.mapper().readTree(settings.plan()), machine.secret());
    } catch (Refusal e) {
      return waits(run, "this version cannot carry out its plan: %s", e.getMessage());
    }
    RunInfo here = store.run(run).orElseThrow();
    RunInfo first = store.run(origin.first()).orElse(here);
    if (plan.stages().contains(Stage.PERF) && onGpu(first.device()) && !onGpu(machine.device())) {
      return waits(run, "this server has no GPU to time it on, as %s", first.device().name());
    }
    String now = runs.id(settings.name(), suite.get(), plan);
    return new Place(now, false, now.equals(run) ? "" : why(here, store.run(now).orElseThrow()));
  }

  private static Place waits(String run, String why, @Nullable String what) {
    return new Place(run, true, why.formatted(what));
  }

  private static boolean onGpu(Verdict.Device device) {
    return device.onGpu();
  }

  /**
   * What differs between this server and a run.
   *
   * @param mine this server's run of the same name and plan
   */
  private String why(RunInfo run, RunInfo mine) {
    List<String> differences = new ArrayList<>();
    JudgingConditions then = new JudgingConditions(run.device(), run.versions()).onAnyCard();
    JudgingConditions now = new JudgingConditions(machine.device(), machine.versions()).onAnyCard();
    if (!then.device().equals(now.device())) {
      differences.add("%s instead of %s".formatted(named(now), named(then)));
    }
    TreeSet<String> names = new TreeSet<>(then.versions().keySet());
    names.addAll(now.versions().keySet());
    for (String name : names) {
      String before = then.versions().get(name);
      String after = now.versions().get(name);
      if (Objects.equals(before, after)) continue;
      differences.add("%s %s instead of %s".formatted(name, or(after), or(before)));
    }
    if (!Objects.equals(experts(run), experts(mine))) {
      differences.add("other kernels of experts (--baseline)");
    }
    return "this server has "
        + (differences.isEmpty() ? "another seed or suite" : String.join(", ", differences));
  }

  private static @Nullable String experts(RunInfo run) {
    return run.settings() == null ? null : run.settings().experts();
  }

  private static String named(JudgingConditions conditions) {
    String driver = conditions.device().driver();
    return conditions.device().name() + (driver == null ? "" : " with driver " + driver);
  }

  private static String or(@Nullable String version) {
    return version == null ? "none" : version;
  }
}
