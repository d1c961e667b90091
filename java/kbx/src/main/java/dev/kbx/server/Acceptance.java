package dev.kbx.server;

import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Plan;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.ServiceStore.Audit;
import dev.kbx.store.Submission;
import dev.kbx.task.Suite;
import dev.kbx.verdict.CandidateIdentity;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Accepts candidates: they are in the store before the client hears of it. Safe for several
 * threads.
 */
final class Acceptance {
  private final ServiceStore store;
  private final Machine machine;
  private final OpenRuns runs;
  private final KnownVerdicts verdicts;
  private final Backlog backlog;
  private final ServiceMetrics figures;
  private final Runnable unsure;
  private final AtomicLong lastId = new AtomicLong();
  private final SecureRandom random = new SecureRandom();

  /**
   * @param unsure called when nobody knows whether submissions are stored
   */
  Acceptance(
      ServiceStore store,
      Machine machine,
      OpenRuns runs,
      KnownVerdicts verdicts,
      Backlog backlog,
      ServiceMetrics figures,
      Runnable unsure) {
    this.store = store;
    this.machine = machine;
    this.runs = runs;
    this.verdicts = verdicts;
    this.backlog = backlog;
    this.figures = figures;
    this.unsure = unsure;
  }

  /**
   * A candidate of a request.
   *
   * @param at JSON pointer to it in the request; empty for the whole
   */
  record Wanted(Candidate candidate, @Nullable String key, String at) {}

  /**
   * Who wants what judged how.
   *
   * @param run the client's name of it
   * @param deadline null for none
   * @param session id of the session that they are turns or the answer of; null for none
   */
  record Order(
      String client,
      String run,
      Plan plan,
      int priority,
      @Nullable Instant deadline,
      @Nullable String session) {
    /** An order that is of no session. */
    Order(String client, String run, Plan plan, int priority, @Nullable Instant deadline) {
      this(client, run, plan, priority, deadline, null);
    }
  }

  /**
   * Accepts all candidates of a request, or none. One whose key is that of a failed one is queued
   * again in its place.
   */
  List<Submission> accept(Order order, List<Wanted> wanted) {
    Map<String, Submission> byKey =
        new HashMap<>(
            store.keyed(
                order.client(),
                wanted.stream().map(Wanted::key).filter(Objects::nonNull).toList()));
    List<Submission> answer = new ArrayList<>();
    List<Submission> accepted = new ArrayList<>();
    Set<String> again = new HashSet<>();
    Map<String, String> sources = new LinkedHashMap<>();
    Map<String, String> ids = new HashMap<>();
    SameContent same = new SameContent(store, order, machine.secret());
    Instant now = Instant.now();
    for (int i = 0; i < wanted.size(); i++) {
      Candidate candidate = wanted.get(i).candidate();
      CandidateIdentity identity = candidate.identity();
      String key = wanted.get(i).key();
      Submission earlier = key == null ? null : byKey.get(key);
      if (earlier != null) same.need(earlier, wanted.get(i));
      if (earlier != null && earlier.state() != Submission.State.FAILED) {
        answer.add(earlier);
        continue;
      }
      String run = ids.computeIfAbsent(identity.suite(), suite -> run(order, suite));
      String id = earlier == null ? nextId() : earlier.id();
      Submission submission = submission(order, id, run, candidate, identity, key, now);
      if (key != null) byKey.put(key, submission);
      accepted.add(submission);
      if (earlier != null) again.add(id);
      answer.add(submission);
      sources.put(identity.source(), candidate.code());
    }
    Map<String, Integer> known = verdicts.of(accepted);
    store(order.client(), now(accepted, known), again, sources, now);
    return now(answer, known);
  }

  private String run(Order order, String suite) {
    Suite served = machine.suite(suite).orElseThrow();
    return runs.id(order.run(), served, order.plan());
  }

  private Submission submission(
      Order order,
      String id,
      String run,
      Candidate candidate,
      CandidateIdentity identity,
      @Nullable String key,
      Instant now) {
    return new Submission(
        id,
        order.client(),
        key,
        run,
        null,
        identity,
        candidate.conditions(),
        candidate.origin(),
        order.priority(),
        now,
        order.deadline(),
        order.session(),
        Submission.Outcome.NONE);
  }

  private static List<Submission> now(List<Submission> some, Map<String, Integer> known) {
    return some.stream()
        .map(each -> {
          Integer place = known.get(each.id());
          return place == null ? each : each.done(place, true, 0.0);
        })
        .toList();
  }

  private void store(
      String client,
      List<Submission> accepted,
      Set<String> again,
      Map<String, String> sources,
      Instant now) {
    if (accepted.isEmpty()) return;
    List<Submission> queued =
        accepted.stream().filter(each -> each.state() == Submission.State.QUEUED).toList();
    backlog.enter(client, queued);
    try {
      store.accept(
          accepted.stream().filter(each -> !again.contains(each.id())).toList(),
          accepted.stream().filter(each -> again.contains(each.id())).toList(),
          sources,
          new Audit(now, client, "submit", accepted.size() + " into " + accepted.getFirst().run()));
    } catch (RuntimeException | Error e) {
      backlog.leave(queued);
      unsure.run();
      throw e;
    }
    figures.accepted(accepted.size());
    backlog.entered(queued);
  }

  /**
   * Ids sort by time. They begin anywhere in their millisecond: another server, or this one before
   * its clock was set back, may have given some of it.
   */
  private String nextId() {
    return nextId("j_");
  }

  /**
   * @param prefix of the id
   */
  String nextId(String prefix) {
    long now = (System.currentTimeMillis() << 20) + random.nextInt(1 << 20);
    long number = lastId.updateAndGet(last -> Math.max(last + 1, now));
    String digits = Long.toString(number, Character.MAX_RADIX);
    return prefix + "0".repeat(Math.max(0, 13 - digits.length())) + digits;
  }
}
