package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.judge.JudgeFingerprint;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Inputs;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import dev.kbx.store.RunStore;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Judges each distinct candidate once. A candidate that was judged under the same conditions gets
 * the stored judgement; a candidate equal to one in progress waits for it.
 *
 * <p>A judgement that may differ next time ({@link Judgement#lasting}) is not reused, nor is one by
 * a task whose code may read more than its own files ({@link Task#contents}).
 */
public final class RememberingReferee implements Referee {
  private final JudgingReferee judging;
  private final RunStore store;
  private final MemoKeys keys = new MemoKeys();
  private final InFlight inFlight = new InFlight();
  private final AtomicInteger remembered = new AtomicInteger();

  /**
   * @param store cache of judgements of this run and earlier ones
   */
  public RememberingReferee(JudgingReferee judging, RunStore store) {
    this.judging = judging;
    this.store = store;
  }

  @Override
  public int capacity() {
    return judging.capacity();
  }

  @Override
  public List<JudgingDevice> devices() {
    return judging.devices();
  }

  @Override
  public void expect(Plan plan, int candidates) {
    judging.expect(plan, candidates);
  }

  /** Number of cache hits. */
  public int remembered() {
    return remembered.get();
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    return find(candidate, plan).judgement();
  }

  @Override
  public Found find(Candidate candidate, Plan plan) throws InterruptedException {
    Optional<String> found = keys.of(candidate, plan);
    if (found.isEmpty()) return new Found(judging.judge(candidate, plan), false);
    String key = found.get();
    try (var _ = inFlight.enter(key)) {
      Optional<Judgement> known = stored(key);
      if (known.isPresent()) {
        remembered.incrementAndGet();
        judging.settled();
        return new Found(known.get(), true);
      }
      Judgement judgement = judging.judge(candidate, plan);
      if (judgement.lasting()) {
        store.remember(
            MemoKeys.on(JudgingConditions.of(judgement), key), candidate.hash(), judgement);
      }
      return new Found(judgement, false);
    }
  }

  /** A stored judgement of the candidate under conditions that it could be judged under now. */
  private Optional<Judgement> stored(String key) {
    List<String> keys = judging.kinds().stream().map(kind -> MemoKeys.on(kind, key)).toList();
    return store.remembered(keys, judging::accepts);
  }

  /**
   * Cache keys of judgements. A key covers everything that a judgement depends on: source, task
   * file, every component of the plan, the model and driver of the device, and versions, including
   * the judge's own fingerprint ({@link JudgeFingerprint}). Safe for several threads.
   *
   * <p>A task's file is read only once, as in the oracle.
   */
  private static final class MemoKeys {
    private final Map<Task, Optional<String>> tasks = new ConcurrentHashMap<>();

    /**
     * Hex; equal for candidates that would get the same judgement under the same conditions. Empty
     * if that depends on what no key can cover: see {@link Task#contents}.
     */
    Optional<String> of(Candidate candidate, Plan plan) {
      Task task = candidate.task();
      return tasks
          .computeIfAbsent(task, Task::contents)
          .map(contents ->
              List.of(
                  candidate.hash(), task.suite(), task.path(), conditions(plan, task), contents))
          .map(parts -> DigestUtils.sha256Hex(parts.toString()));
    }

    /** A new component of the plan breaks the match here, so it cannot be left out of the key. */
    private static String conditions(Plan plan, Task task) {
      return switch (plan) {
        case Plan(
                List<Stage> stages,
                Rules rules,
                String arch,
                String secret,
                Limits limits,
                Tolerance tolerance,
                Grade grade,
                ModulePrecision precision,
                Optional<Policy> _,
                Baseline baseline,
                L2State cache,
                boolean profile,
                boolean publishedAccounting,
                boolean memoryChecks,
                Inputs inputs,
                List<ServingProperty> properties,
                Map<String, String> _) ->
            List.of(
                    stages.stream().map(Stage::label).toList(),
                    rules,
                    arch,
                    secret,
                    limits,
                    tolerance,
                    grade,
                    precision,
                    plan.policy(task),
                    baseline,
                    cache,
                    profile,
                    publishedAccounting,
                    memoryChecks,
                    inputs,
                    properties,
                    Objects.requireNonNullElse(plan.expert(task), ""))
                .toString();
      };
    }

    /** Hex; key {@code of} a candidate that is judged under these conditions, on whichever GPU. */
    static String on(JudgingConditions conditions, String of) {
      String versions = new TreeMap<>(conditions.versions()).toString();
      return DigestUtils.sha256Hex(conditions.onAnyCard().device() + versions + of);
    }
  }
}
