package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Source;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.Place;
import dev.kbx.store.ServiceStore.Work;
import dev.kbx.store.Stored;
import dev.kbx.store.Submission;
import dev.kbx.task.Task;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A run that stays open, as those of {@code kbx serve}. Each candidate is judged once, and its
 * verdict is stored immediately; one with status {@code infrastructure}, which says nothing about
 * the candidate, is replaced when the candidate comes again.
 *
 * <p>What was judged is looked up in the store: nothing of it is kept in memory, however many there
 * are. Safe for several threads of one process, which must be the only one that judges the run.
 */
public final class StandingRun {
  private final RunStore store;
  private final Referee referee;
  private final Plan plan;
  private final String run;
  private final Listener listener;
  private final InFlight inFlight = new InFlight();
  private final AtomicInteger next;

  /** Receives every verdict, from several threads. */
  public interface Listener {
    /**
     * Called after a verdict was stored.
     *
     * @param replaces whether there was one at its position
     * @param known whether it was remembered, so that nothing ran
     */
    void verdict(Stored stored, Verdict verdict, boolean replaces, boolean known);
  }

  /**
   * Where a candidate's verdict is.
   *
   * @param known whether its judgement was there before: in this run or in memory
   */
  public record Placed(int position, boolean known) {}

  /**
   * A run of the store.
   *
   * @param referee judges candidates; outlives the run
   */
  public StandingRun(RunStore store, Referee referee, Plan plan, String run, Listener listener) {
    this.store = store;
    this.referee = referee;
    this.plan = plan;
    this.run = run;
    this.listener = listener;
    this.next = new AtomicInteger(store.service().end(run));
  }

  /**
   * Judges the candidate of a stored submission, unless it has a verdict that answers for it.
   * Blocks until the verdict is stored.
   *
   * @param task of the submission
   * @param answers whether a verdict that is there does; otherwise it is replaced
   * @throws InterruptedException if interrupted; the candidate then has no verdict
   */
  public Placed judge(Submission submission, Task task, boolean answers)
      throws InterruptedException {
    try (var _ = inFlight.enter(submission.identity().text())) {
      Work work = store.service().work(submission.id()).orElseThrow();
      Place place = work.place();
      if (place != null && place.stands() && answers) return new Placed(place.position(), true);
      Candidate candidate = candidate(work, task);
      Referee.Found found = referee.find(candidate, plan);
      Verdict verdict = found.judgement().on(candidate.provenance(run));
      // Taken now: verdicts are in the order in which they were found, and without gaps unless the
      // store fails.
      int position = place == null ? next.getAndIncrement() : place.position();
      Stored stored = store.service().add(position, verdict, place != null);
      listener.verdict(stored, verdict, place != null, found.known());
      return new Placed(position, found.known());
    }
  }

  /**
   * Judges a turn of a session on development inputs, unless it has its judgement. Blocks until
   * that is stored.
   *
   * @return what was found; empty if it had been before
   * @throws InterruptedException if interrupted; the turn then has no judgement
   */
  public Optional<Referee.Found> develop(Submission turn, Task task) throws InterruptedException {
    try (var _ = inFlight.enter(turn.identity().text())) {
      if (store.sessions().isJudged(turn.id())) return Optional.empty();
      Candidate candidate = candidate(store.service().work(turn.id()).orElseThrow(), task);
      boolean profiled = "profile".equals(candidate.conditions().get("feedback"));
      Referee.Found found = referee.find(candidate, plan.development(profiled));
      String judgement = Json.mapper().writeValueAsString(found.judgement());
      store.sessions().judged(turn.id(), judgement, Instant.now());
      return Optional.of(found);
    }
  }

  private static Candidate candidate(Work work, Task task) {
    CandidateIdentity identity = work.submission().identity();
    return new Candidate(
        task,
        new Source.Text(work.code()),
        work.submission().origin(),
        identity.sample(),
        identity.method(),
        identity.model(),
        identity.round(),
        work.submission().conditions());
  }
}
