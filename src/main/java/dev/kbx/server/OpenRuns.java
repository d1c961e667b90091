package dev.kbx.server;

import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;

/** The runs that the service judges into: one for each name, suite, plan, device and version. */
final class OpenRuns implements AutoCloseable {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);
  private static final String LETTERS = "bcdfghjkmnpqrstvwxz";

  private final RunStore store;
  private final Machine machine;
  private final RunService.Listener listener;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, String> ids = new HashMap<>();
  private final Map<String, Open> open = new HashMap<>();

  private record Open(Plan plan, RunService service) {}

  OpenRuns(RunStore store, Machine machine, RunService.Listener listener) {
    this.store = store;
    this.machine = machine;
    this.listener = listener;
  }

  /** The id of the run for a client's name, which is begun if there is none. */
  synchronized String id(String name, Suite suite, Plan plan) {
    String text = Plans.text(plan);
    String settings =
        DigestUtils.sha256Hex(
            List.of(
                    name,
                    suite.name(),
                    text,
                    plan.secret(),
                    machine.device(),
                    new TreeMap<>(machine.versions()))
                .toString());
    return ids.computeIfAbsent(
        settings,
        _ ->
            store
                .service()
                .serviceRun(settings)
                .map(ServiceRun::run)
                .orElseGet(() -> {
                  RunInfo run = info(newId(), name, suite, plan);
                  store.service().begin(new ServiceRun(settings, run.id(), name, text), run);
                  return run.id();
                }));
  }

  private String newId() {
    StringBuilder id = new StringBuilder(TIME.format(Instant.now())).append('-');
    for (int i = 0; i < 4; i++) id.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    return id.toString();
  }

  private RunInfo info(String id, String name, Suite suite, Plan plan) {
    return new RunInfo(
        id,
        Instant.now(),
        null,
        List.of(name),
        suite.name(),
        "*",
        plan.stages(),
        List.of(),
        machine.device(),
        machine.versions(),
        0,
        (int) suite.tasks().stream().filter(task -> !task.extra()).count(),
        plan.against(),
        plan.tolerance().label(),
        plan.grade().label(),
        plan.precision().label(),
        plan.policies(suite.tasks()),
        plan.publishedAccounting(),
        RunService.settings(plan, List.of()));
  }

  /** The plan of a run. */
  Plan plan(String run) {
    return of(run).plan;
  }

  /** What judges candidates of a run. */
  RunService service(String run) {
    return of(run).service;
  }

  private synchronized Open of(String run) {
    Open known = open.get(run);
    if (known != null) return known;
    ServiceRun settings = store.service().serviceRunOf(run).orElseThrow();
    Plan plan = Plans.of(Json.mapper().readTree(settings.plan()), machine.secret());
    RunInfo info = store.run(run).orElseThrow();
    Open opened = new Open(plan, RunService.open(store, machine.referee(), plan, info, listener));
    open.put(run, opened);
    return opened;
  }

  /** Forgets a run of which judging failed: the next candidate opens it again. */
  void drop(String run, RunService failed) {
    synchronized (this) {
      Open known = open.get(run);
      if (known == null || known.service != failed) return;
      open.remove(run);
    }
    failed.close();
  }

  @Override
  public void close() {
    List<Open> all;
    synchronized (this) {
      all = List.copyOf(open.values());
      open.clear();
    }
    all.forEach(each -> each.service.close());
  }
}
