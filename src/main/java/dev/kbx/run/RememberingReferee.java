package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Conditions;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

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
        store.remember(MemoKeys.on(Conditions.of(judgement), key), candidate.hash(), judgement);
      }
      return new Found(judgement, false);
    }
  }

  /** A stored judgement of the candidate under conditions that it could be judged under now. */
  private Optional<Judgement> stored(String key) {
    List<String> keys = judging.kinds().stream().map(kind -> MemoKeys.on(kind, key)).toList();
    return store.remembered(keys, judging::accepts);
  }
}
