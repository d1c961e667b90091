package dev.kbx.server;

import dev.kbx.candidate.Candidate;
import dev.kbx.server.Acceptance.Order;
import dev.kbx.server.Acceptance.Wanted;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.store.Submission;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Whether a candidate of a request is what its key was used for before: everything that its verdict
 * depends on, and the run that it is in. Priority and deadline may differ, as they say how urgent
 * it is. Device and versions may have changed since: the judgement stands.
 */
final class SameContent {
  private final ServiceStore store;
  private final Order order;
  private final String secret;
  private final Map<String, Optional<ServiceRun>> runs = new HashMap<>();

  /**
   * @param order the request
   */
  SameContent(ServiceStore store, Order order, String secret) {
    this.store = store;
    this.order = order;
    this.secret = secret;
  }

  /** Throws {@link Refusal} with what differs. */
  void need(Submission earlier, Wanted wanted) {
    List<String> different = new ArrayList<>(differences(earlier, wanted.candidate()));
    runs.computeIfAbsent(earlier.run(), store::serviceRunOf)
        .ifPresent(run -> different.addAll(differences(run)));
    if (different.isEmpty()) return;
    throw Refusal.conflict(
        wanted.at() + "/key",
        "key: '%s' was used with another %s; give each candidate its own"
            .formatted(
                Plans.cut(String.valueOf(earlier.key())), String.join(", another ", different)));
  }

  private static List<String> differences(Submission earlier, Candidate candidate) {
    CandidateIdentity then = earlier.identity();
    CandidateIdentity now = candidate.identity();
    List<String> different = new ArrayList<>();
    note(different, "suite", then.suite(), now.suite());
    note(different, "task", then.task(), now.task());
    note(different, "code", then.source(), now.source());
    note(different, "method", then.method(), now.method());
    note(different, "model", then.model(), now.model());
    note(different, "sample", then.sample(), now.sample());
    note(different, "round", then.round(), now.round());
    note(different, "conditions", earlier.conditions(), candidate.conditions());
    return different;
  }

  private List<String> differences(ServiceRun run) {
    List<String> different = new ArrayList<>();
    note(different, "run", run.name(), order.run());
    JsonNode then = plan(run.plan());
    JsonNode now = Json.mapper().readTree(Plans.text(order.plan()));
    TreeSet<String> members = new TreeSet<>(then.propertyNames());
    members.addAll(now.propertyNames());
    for (String each : members) note(different, "plan." + each, then.get(each), now.get(each));
    return different;
  }

  /** The plan as this version writes it: an earlier one knew fewer members. */
  private JsonNode plan(String stored) {
    return Json.mapper().readTree(Plans.text(Plans.of(Json.mapper().readTree(stored), secret)));
  }

  private static void note(
      List<String> different, String name, @Nullable Object then, @Nullable Object now) {
    if (!Objects.equals(then, now)) different.add(name);
  }
}
