package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceLost;
import dev.kbx.judge.Dispatcher;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.plan.ServingProperty;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Gatherers;
import java.util.stream.IntStream;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * A run to which candidates can be submitted while it is in progress. Each one is judged once, and
 * its verdict is stored immediately. {@link #open}, then {@link #submit} from any thread, then
 * {@link #finish}.
 *
 * <p>A candidate is identified by its {@link CandidateIdentity}. So a run that was killed at any
 * moment continues with the candidates that have no verdict, in whatever order they are submitted.
 * The position only determines a candidate's place in files and tables.
 */
public final class RunService implements AutoCloseable {
  /**
   * Candidates queued in addition to those being judged, so that no device idles while one of them
   * waits for an equal candidate or is a cache hit.
   */
  private static final int LOOKAHEAD = 16;

  /**
   * Sources that are read and parsed at the same time, which takes milliseconds each: by one
   * thread, that would bound how many candidates a cluster judges a second.
   */
  private static final int READERS = Runtime.getRuntime().availableProcessors();

  /** Hexadecimal digits of the hash over all sources of a run. */
  private static final int SOURCES = 16;

  private final RunStore store;
  private final Referee referee;
  private final Plan plan;
  private final RunInfo run;
  private final Listener listener;
  private final Dispatcher judging;
  private final Map<CandidateIdentity, Place> places = new HashMap<>();
  private final BitSet positions = new BitSet();

  /** What earlier sessions judged, by position. */
  private final Map<Integer, CandidateIdentity> stored = new HashMap<>();

  private final Object telling = new Object();
  private int submitted;

  /** Receives every verdict, from several threads, one at a time. */
  public interface Listener {
    /** Called after a verdict was stored. */
    void verdict(Stored stored, Verdict verdict);
  }

  /**
   * A candidate's place in the run.
   *
   * @param judgement null if an earlier session stored its verdict
   */
  private record Place(int position, @Nullable CompletableFuture<Judgement> judgement) {}

  private RunService(RunStore store, Referee referee, Plan plan, RunInfo run, Listener listener) {
    this.store = store;
    this.referee = referee;
    this.plan = plan;
    this.run = run;
    this.listener = listener;
    this.judging = new Dispatcher(referee.capacity() + LOOKAHEAD);
    for (RunStore.Judged judged : store.judged(run.id())) {
      places.put(judged.identity(), new Place(judged.position(), null));
      positions.set(judged.position());
      stored.put(judged.position(), judged.identity());
    }
  }

  /**
   * Opens a new or unfinished run of the store.
   *
   * @param referee judges candidates; outlives the run
   */
  public static RunService open(
      RunStore store, Referee referee, Plan plan, RunInfo run, Listener listener) {
    return new RunService(store, referee, plan, run, listener);
  }

  /** The settings that a run records besides stages, rules, tolerance and baseline. */
  public static RunInfo.Settings settings(Plan plan, List<Candidate> candidates) {
    return new RunInfo.Settings(
        plan.arch(),
        Math.toIntExact(plan.limits().call().toSeconds()),
        Math.toIntExact(plan.limits().device().toSeconds()),
        Seeds.name(plan.secret()),
        plan.profile(),
        plan.memoryChecks(),
        properties(plan),
        experts(plan),
        sources(candidates));
  }

  private static @Nullable List<String> properties(Plan plan) {
    List<String> names = plan.properties().stream().map(ServingProperty::label).toList();
    return names.isEmpty() ? null : names;
  }

  private static @Nullable String experts(Plan plan) {
    if (plan.experts().isEmpty()) return null;
    return DigestUtils.sha256Hex(new TreeMap<>(plan.experts()).toString()).substring(0, SOURCES);
  }

  /** Hex; equal for the same sources for the same tasks in the same order, by checksum. */
  private static String sources(List<Candidate> candidates) {
    StringBuilder all = new StringBuilder();
    for (Candidate candidate : candidates) {
      all.append(candidate.task().path()).append(' ').append(candidate.source().sum()).append('\n');
    }
    return DigestUtils.sha256Hex(all.toString()).substring(0, SOURCES);
  }

  /**
   * Submits all candidates of a list, in order; those with a verdict in this run are not judged
   * again. If the list is the one that the run was begun with, their sources are not even read.
   *
   * @throws InterruptedException if interrupted; verdicts so far are stored
   */
  public void submitAll(List<Candidate> candidates) throws InterruptedException {
    referee.expect(plan, candidates.size() - store.count(run.id()));
    RunInfo.Settings settings = run.settings();
    boolean same =
        !stored.isEmpty() && settings != null && settings.sources().equals(sources(candidates));
    Iterator<Optional<Candidate>> read =
        IntStream.range(0, candidates.size())
            .boxed()
            .gather(
                Gatherers.mapConcurrent(READERS, index -> read(candidates.get(index), index, same)))
            .iterator();
    // Once there is a failure, finish() reports it.
    while (!judging.failed() && read.hasNext()) {
      Optional<Candidate> next = read.next();
      if (next.isPresent()) {
        var _ = place(next.get());
      } else {
        passOver();
      }
    }
  }

  /**
   * A candidate with its source in memory; empty if its verdict is stored.
   *
   * @param same whether the list is the one that positions are of
   */
  private Optional<Candidate> read(Candidate candidate, int index, boolean same) {
    CandidateIdentity judged = same ? stored.get(index) : null;
    boolean known = judged != null && judged.equals(candidate.identity(judged.source()));
    return known ? Optional.empty() : Optional.of(candidate.held());
  }

  private synchronized void passOver() {
    submitted++;
  }

  /**
   * Adds a candidate to the run and judges it asynchronously. Blocks while the queue is full.
   *
   * @return completes when the verdict is stored; the same future for the same candidate, already
   *     completed for one that an earlier session of this run judged
   */
  public CompletableFuture<Judgement> submit(Candidate candidate) throws InterruptedException {
    Place place = place(candidate.held());
    CompletableFuture<Judgement> judgement = place.judgement();
    return judgement != null
        ? judgement
        : CompletableFuture.completedFuture(store.verdict(run.id(), place.position()).judgement());
  }

  /** The place of a candidate; a new candidate is queued. */
  private Place place(Candidate held) throws InterruptedException {
    CandidateIdentity identity = held.identity();
    CompletableFuture<Judgement> judgement = new CompletableFuture<>();
    Place place;
    synchronized (this) {
      submitted++;
      Place known = places.get(identity);
      if (known != null) return known;
      place = new Place(positions.nextClearBit(submitted - 1), judgement);
      places.put(identity, place);
      positions.set(place.position());
    }
    boolean begun = false;
    try {
      begun = judging.submit(() -> judge(place, held, judgement));
    } finally {
      if (!begun) judgement.cancel(false);
    }
    return place;
  }

  private void judge(Place place, Candidate held, CompletableFuture<Judgement> judgement)
      throws InterruptedException {
    try {
      Judgement found = referee.judge(held, plan);
      store(place.position(), found.on(held.provenance(run.id())), held.code());
      judgement.complete(found);
    } catch (InterruptedException e) {
      judgement.cancel(false);
      throw e;
    } catch (RuntimeException | Error e) {
      judgement.completeExceptionally(e);
      throw e;
    }
  }

  private void store(int position, Verdict verdict, String code) {
    // Not one at a time: the store commits together what comes together.
    Stored stored = store.add(position, verdict, code);
    synchronized (telling) {
      listener.verdict(stored, verdict);
    }
  }

  /**
   * Waits until all submitted candidates are judged.
   *
   * @throws DeviceLost if no device is left; other failures of the referee or the store are thrown
   *     as well. Verdicts so far are stored.
   */
  public void finish() throws InterruptedException {
    judging.finish();
  }

  /** Interrupts judging in progress, which uses resources that the caller closes next. */
  @Override
  public void close() {
    judging.close();
  }
}
