package dev.kbx.server;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Judges one candidate for each permit, as it is told: everything is correct at first. */
final class ScriptedReferee implements Referee {
  static final Verdict.Device DEVICE = new Verdict.Device("cpu", "scripted", null, null, null);

  final Semaphore permits = new Semaphore(1_000_000);
  final List<String> judged = Collections.synchronizedList(new ArrayList<>());

  /** What was judged by which plan. */
  final Map<String, Plan> plans = new ConcurrentHashMap<>();

  /** What is thrown in place of an answer. */
  volatile @Nullable RuntimeException failure;

  /** What is thrown to whoever asks how many are judged at a time. */
  volatile @Nullable Error fault;

  volatile Judgement answer = judgement("correct", true);

  static Judgement judgement(String status, boolean ok) {
    return judgement(status, ok, "");
  }

  static Judgement judgement(String status, boolean ok, String message) {
    return Json.mapper()
        .readValue(
            """
            {"status": "%s", "message": %s, "stage": "correct", "call_ok": %s, "exe_ok": %s,
             "grade": "published", "flags": [], "device": {"kind": "cpu", "name": "scripted"},
             "versions": {}, "seconds": {"call": 0.1}}
            """
                .formatted(status, message.isEmpty() ? null : "\"" + message + "\"", ok, ok),
            Judgement.class);
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    permits.acquire();
    RuntimeException thrown = failure;
    if (thrown != null) throw thrown;
    judged.add(candidate.code());
    plans.put(candidate.code() + " " + plan.inputs(), plan);
    return answer;
  }

  @Override
  public int capacity() {
    Error thrown = fault;
    if (thrown != null) throw thrown;
    return 2;
  }

  @Override
  public void expect(Plan plan, int candidates) {}
}
