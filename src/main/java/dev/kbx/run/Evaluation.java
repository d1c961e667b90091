package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.store.Store;
import dev.kbx.store.Stored;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A run over candidates: judges those that have no verdict yet, each distinct one once, and stores
 * every verdict as it falls.
 *
 * <p>The store is what makes a run resumable: a verdict is there or it is not. Killed at any
 * moment, a run continues with the positions that have none.
 */
public final class Evaluation {
  private final Store store;
  private final Plan plan;
  private final List<Workers.Slot> slots;
  private final RunInfo run;
  private final Listener listener;
  private final MemoKeys keys;
  private final InFlight<Member> twins = new InFlight<>();

  /** Positions of candidates under which a device was lost. A second one is not risked. */
  private final Set<Integer> lostUnder = ConcurrentHashMap.newKeySet();

  /** Hears of every verdict, from several threads, one at a time. */
  public interface Listener {
    /**
     * A verdict fell and is stored.
     *
     * @param remembered whether it was given without judging again
     */
    void verdict(Stored stored, Verdict verdict, boolean remembered);
  }

  public Evaluation(
      Store store, Plan plan, List<Workers.Slot> slots, RunInfo run, Listener listener) {
    this.store = store;
    this.plan = plan;
    this.slots = List.copyOf(slots);
    this.run = run;
    this.listener = listener;
    this.keys = new MemoKeys(plan, run);
  }

  /**
   * Judges what is left of {@code candidates}; a candidate's position in the list is its identity
   * in the run. The store has the verdicts.
   *
   * @throws InterruptedException when cut off; what was judged is stored
   */
  public void judge(List<Candidate> candidates) throws InterruptedException {
    BitSet done = store.positions(run.id());
    List<Member> left = new ArrayList<>();
    for (int position = 0; position < candidates.size(); position++) {
      if (!done.get(position)) left.add(new Member(position, candidates.get(position)));
    }
    if (!left.isEmpty()) slots.getFirst().ready(plan, left.size());
    Dispatcher.run(slots, left, this::settle);
  }

  /** A candidate at its position in the run. */
  private record Member(int position, Candidate candidate) {}

  private void settle(Workers.Slot slot, Member member) throws InterruptedException {
    judge(slot, member);
    slot.settled(); // Not where the device was lost: it comes back on another.
  }

  private void judge(Workers.Slot slot, Member member) throws InterruptedException {
    Candidate held = member.candidate().held();
    String key = keys.of(held);
    if (!twins.leads(key, member)) return; // Judged at this moment: it gets that verdict.
    Verdict known = device(slot).flatMap(d -> store.remembered(MemoKeys.on(d, key))).orElse(null);
    for (Optional<Member> next = twins.next(key); next.isPresent(); next = twins.next(key)) {
      Candidate candidate = next.get().equals(member) ? held : next.get().candidate().held();
      int position = next.get().position();
      boolean remembered = known != null;
      Verdict verdict = known == null ? judged(slot, position, candidate) : given(known, candidate);
      boolean lasting = verdict.judgement().lasting() && !slot.lost();
      String kept = lasting ? MemoKeys.on(verdict.device(), key) : null;
      add(position, verdict, candidate, kept, remembered);
      twins.judged(key);
      if (lasting) known = verdict;
    }
  }

  /** What verdicts of a slot name; empty where no oracle of its GPU has said yet which it is. */
  private Optional<Verdict.Device> device(Workers.Slot slot) {
    boolean isRuns = slot.gpu() == null || slot.device().equals(slots.getFirst().device());
    return slot.described().or(() -> isRuns ? Optional.of(run.device()) : Optional.empty());
  }

  private Verdict judged(Workers.Slot slot, int position, Candidate candidate)
      throws InterruptedException {
    Judge judge = new Judge(slot, plan, run.device(), run.versions());
    try {
      return judge.judge(candidate).on(candidate.provenance(run.id()));
    } catch (DeviceLost e) {
      if (lostUnder.add(position)) throw e;
      return judge.givenUp(e).on(candidate.provenance(run.id()));
    }
  }

  /**
   * @param key what it is remembered under; null if it is not
   */
  private void add(
      int position,
      Verdict verdict,
      Candidate candidate,
      @Nullable String key,
      boolean remembered) {
    synchronized (listener) {
      Stored stored = store.add(position, verdict, candidate.code(), key);
      listener.verdict(stored, verdict, remembered);
    }
  }

  /** A verdict given before, for another appearance of the same candidate. */
  private Verdict given(Verdict known, Candidate candidate) {
    return known.judgement().on(candidate.provenance(run.id()));
  }
}
