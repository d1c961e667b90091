package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.LocalReferee;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Judges each distinct candidate once. A candidate that was judged under the same conditions gets
 * the stored judgement; a candidate equal to one in progress waits for it.
 *
 * <p>A judgement that may differ next time ({@link Judgement#lasting}) is not reused.
 */
public final class RememberingReferee implements Referee {
  private final LocalReferee judging;
  private final RunStore store;
  private final MemoKeys keys;
  private final InFlight inFlight = new InFlight();
  private final AtomicInteger remembered = new AtomicInteger();

  /**
   * @param store cache of judgements of this run and earlier ones
   */
  public RememberingReferee(LocalReferee judging, RunStore store) {
    this.judging = judging;
    this.store = store;
    this.keys = new MemoKeys(judging.versions());
  }

  @Override
  public int capacity() {
    return judging.capacity();
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
    String key = keys.of(candidate, plan);
    try (var _ = inFlight.enter(key)) {
      Optional<Judgement> known = stored(key);
      if (known.isPresent()) {
        remembered.incrementAndGet();
        judging.settled();
        return new Found(known.get(), true);
      }
      Judgement judgement = judging.judge(candidate, plan);
      if (judgement.lasting()) {
        store.remember(MemoKeys.on(judgement.device(), key), candidate.hash(), judgement);
      }
      return new Found(judgement, false);
    }
  }

  /** A stored judgement by any device that could judge the candidate now. */
  private Optional<Judgement> stored(String key) {
    for (Verdict.Device device : judging.devices()) {
      Optional<Judgement> known = store.remembered(MemoKeys.on(device, key));
      if (known.isPresent()) return known;
    }
    return Optional.empty();
  }
}
