package dev.kbx.server;

import dev.kbx.dashboard.Pending;
import dev.kbx.dashboard.ServiceState;
import dev.kbx.dashboard.Viewer;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.WorkQueue.Count;
import dev.kbx.plan.Plan;
import dev.kbx.server.SubmissionReader.Read;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import io.helidon.webserver.http.ServerRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/** The desk of a running server: its queue, its tokens. */
final class ServerPageBackend implements PageBackend {
  private final Access access;
  private final JudgingService judging;
  private final RunStore runs;
  private final ServiceStore store;
  private final Machine machine;
  private final JudgementView view;

  ServerPageBackend(Access access, JudgingService judging, RunStore runs, Machine machine) {
    this.access = access;
    this.judging = judging;
    this.runs = runs;
    this.store = runs.service();
    this.machine = machine;
    this.view = new JudgementView(judging, store);
  }

  @Override
  public Optional<Viewer> viewer(ServerRequest request) {
    try {
      Client client = access.require(request, Client.Scope.READ);
      Optional<String> token = Access.cookie(request);
      return Optional.of(
          new Viewer(
              client.name(),
              client.may(Client.Scope.SUBMIT),
              token.isPresent(),
              token.map(Access::csrf).orElse(null)));
    } catch (Refusal refusal) {
      if (refusal.status() == 401) return Optional.empty();
      throw refusal;
    }
  }

  @Override
  public boolean isToken(String token) {
    return access.isToken(token);
  }

  @Override
  public int open(String run) {
    return judging.backlog().queue().ofGroup(run).open();
  }

  @Override
  public ServiceState state() {
    Backlog backlog = judging.backlog();
    Count all = backlog.queue().count();
    TreeMap<String, Integer> queued = new TreeMap<>();
    backlog
        .queue()
        .byOwner()
        .forEach((client, count) -> {
          if (count.waiting() > 0) queued.put(client, count.waiting());
        });
    return new ServiceState(
        machine.devices().stream().map(this::device).toList(),
        all.waiting(),
        all.leased(),
        all.waiting() == 0 ? null : Duration.ofMillis(Math.round(1_000 * backlog.oldestSeconds())),
        queued);
  }

  private ServiceState.Device device(JudgingDevice each) {
    boolean judges = each.state() != JudgingDevice.State.LOST && judging.ready();
    String state = judging.ready() ? each.state().label() : "not ready";
    Verdict.Device device = each.device();
    return new ServiceState.Device(
        device.name(), state, judges, device.uuid(), device.driver(), device.arch());
  }

  @Override
  public List<Pending> pending(String candidate, String judgement) {
    if (judgement.isEmpty()) return List.of();
    return view.now(store.submissions(List.of(judgement))).stream()
        .filter(each -> each.identity().source().equals(candidate))
        .filter(each -> each.state() != Submission.State.DONE)
        .map(this::pending)
        .toList();
  }

  private Pending pending(Submission each) {
    Optional<Waiting> waits = judging.waiting(each.id());
    boolean active = waits.map(Waiting::judging).orElse(false);
    return new Pending(
        each.id(),
        active ? "judging" : each.state().name().toLowerCase(Locale.ROOT),
        each.identity().task(),
        each.run(),
        waits.isEmpty() || active ? null : (Integer) judging.backlog().queue().ahead(waits.get()),
        each.outcome().message());
  }

  @Override
  public boolean label(Viewer viewer, String run, RunLabel label) {
    if (!viewer.submits()) throw Access.lacks(viewer.client(), Client.Scope.SUBMIT);
    if (!runs.label(run, label)) return false;
    store.audit(new ServiceStore.Audit(Instant.now(), viewer.client(), "label run", run));
    return true;
  }

  @Override
  public Accepted submit(Viewer viewer, dev.kbx.dashboard.SubmissionForm form) {
    if (!viewer.submits()) throw Access.lacks(viewer.client(), Client.Scope.SUBMIT);
    ObjectNode body = Json.mapper().createObjectNode();
    body.put("task", form.task()).put("code", form.code());
    if (!form.suite().isEmpty()) body.put("suite", form.suite());
    ObjectNode plan = Json.mapper().createObjectNode();
    if (!form.grade().isEmpty()) plan.put("grade", form.grade());
    if (!form.policy().isEmpty()) plan.put("policy", form.policy());
    Read read = new SubmissionReader(machine).ofJson(body);
    Plan how = Plans.of(plan, machine.secret());
    String run = SubmissionReader.run(Optional.of(form.run()).filter(given -> !given.isEmpty()));
    Acceptance.Order order = new Acceptance.Order(viewer.client(), run, how, 0, null);
    Submission accepted = judging.accept(order, read.wanted()).getFirst();
    return new Accepted(accepted.identity().source(), accepted.id());
  }
}
