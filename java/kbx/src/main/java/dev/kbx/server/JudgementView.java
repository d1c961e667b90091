package dev.kbx.server;

import dev.kbx.store.ServiceStore;
import dev.kbx.store.Stored;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** Judgements in JSON. */
final class JudgementView {
  private final JudgingService judging;
  private final ServiceStore store;

  JudgementView(JudgingService judging, ServiceStore store) {
    this.judging = judging;
    this.store = store;
  }

  /** The submission of that id, wherever it is. */
  Optional<Submission> find(String id) {
    return judging
        .waiting(id)
        .map(Waiting::submission)
        .or(() -> judging.settled(id))
        .or(() -> store.submissions(List.of(id)).stream().findFirst());
  }

  /** The submissions as they are now. */
  List<Submission> now(List<Submission> submissions) {
    List<String> stale =
        submissions.stream()
            .filter(each -> each.state() == Submission.State.QUEUED)
            .map(Submission::id)
            .filter(id -> judging.waiting(id).isEmpty())
            .toList();
    Map<String, Submission> fresh = new HashMap<>();
    if (!stale.isEmpty()) {
      // Of the two places first the one that it is moved from.
      stale.forEach(id -> judging.settled(id).ifPresent(end -> fresh.put(id, end)));
      List<String> left = stale.stream().filter(id -> !fresh.containsKey(id)).toList();
      store.submissions(left).forEach(each -> fresh.put(each.id(), each));
    }
    return submissions.stream().map(each -> fresh.getOrDefault(each.id(), each)).toList();
  }

  /** An array of judgements; done ones with their verdicts. */
  ArrayNode of(List<Submission> submissions) {
    Map<String, Map<Integer, String>> verdicts = verdicts(submissions);
    ArrayNode list = Json.mapper().createArrayNode();
    for (Submission each : submissions) {
      ObjectNode node = node(each);
      Integer position = each.outcome().position();
      if (position != null) {
        String line = verdicts.getOrDefault(each.run(), Map.of()).get(position);
        if (line != null) node.putRawValue("verdict", new RawValue(line));
      }
      list.add(node);
    }
    return list;
  }

  private Map<String, Map<Integer, String>> verdicts(List<Submission> submissions) {
    Map<String, List<Submission>> byRun =
        submissions.stream()
            .filter(each -> each.outcome().position() != null)
            .collect(Collectors.groupingBy(Submission::run));
    Map<String, Map<Integer, String>> found = new HashMap<>();
    byRun.forEach((run, some) -> {
      Map<Integer, String> lines = new HashMap<>();
      List<Integer> positions =
          some.stream().map(each -> each.outcome().position()).distinct().toList();
      for (int i = 0; i < positions.size(); i += 500) {
        List<Integer> part = positions.subList(i, Math.min(positions.size(), i + 500));
        for (Stored each : store.verdicts(run, part)) lines.put(each.position(), each.json());
      }
      found.put(run, lines);
    });
    return found;
  }

  private ObjectNode node(Submission each) {
    Optional<Waiting> waits =
        each.state() == Submission.State.QUEUED ? judging.waiting(each.id()) : Optional.empty();
    boolean active = waits.map(Waiting::judging).orElse(false);
    Submission.Outcome outcome = each.outcome();
    ObjectNode node = Json.mapper().createObjectNode();
    node.put("id", each.id());
    node.put("state", active ? "judging" : outcome.state().name().toLowerCase(Locale.ROOT));
    node.put("run", each.run());
    if (each.acceptedFor() != null) node.put("accepted_for", each.acceptedFor());
    if (outcome.position() != null) node.put("position", outcome.position());
    node.put("task", each.identity().task());
    node.put("suite", each.identity().suite());
    node.put("candidate", each.identity().source());
    node.put("client", each.client());
    node.put("priority", each.priority());
    node.put("submitted", each.submitted().toString());
    Double seconds = waits.isPresent() ? (Double) waits.get().seconds() : outcome.waited();
    if (seconds != null) node.put("queued_seconds", Math.round(seconds * 1e6) / 1e6);
    if (waits.isPresent() && !active && !judging.backlog().isHeld(waits.get())) {
      node.put("ahead", judging.backlog().queue().ahead(waits.get()));
    }
    node.put("cached", outcome.cached());
    if (each.key() != null) node.put("key", each.key());
    if (outcome.message() != null) node.put("message", outcome.message());
    return node;
  }
}
