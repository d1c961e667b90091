package dev.kbx.timing;

import static java.util.Objects.requireNonNull;

import dev.kbx.outcome.Outcome;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Times an expert's kernel in the rounds of one size of a candidate: on the same values, in a
 * process and in memory that the candidate cannot reach. Of four rounds it goes first in two and
 * last in two, once in each order of candidate and reference; which is drawn, so that nobody knows
 * when it runs.
 *
 * <p>Once it fails it is not called any more, and the candidate's rounds go on without it. Where it
 * cannot be recorded as CUDA graphs, it keeps its share of rounds in which both were launched.
 */
final class ExpertRounds {
  private final Places places = new Places();
  private final Batches batches;
  private final int sizes;
  private final String shape;
  private PairedSamples samples;
  private @Nullable HostRunAhead lead;
  private @Nullable JsonNode recorded;
  private @Nullable PairedSamples replayed;
  private @Nullable Outcome failure;

  /**
   * @param batches of the expert's runner
   * @param sizes number of sizes of the task
   */
  ExpertRounds(Batches batches, int sizes, String shape) {
    this.batches = batches;
    this.sizes = sizes;
    this.samples = new PairedSamples(sizes);
    this.shape = shape;
  }

  /** Whether it goes before candidate and reference in a round: as {@link Places#first}. */
  boolean first(int number, RandomGenerator random) {
    return places.first(number, random);
  }

  /** Its place in each round. */
  static final class Places {
    /** Whether it went first, in the last round of each order of candidate and reference. */
    private final boolean[] last = new boolean[2];

    /**
     * Whether it goes before candidate and reference in a round; asked once a round, in their
     * order.
     *
     * @param number of the round, in which the reference goes before the candidate if it is even
     */
    boolean first(int number, RandomGenerator random) {
      int order = number % 2;
      boolean drawn = number % 4 < 2;
      last[order] = drawn ? random.nextBoolean() : !last[order];
      return last[order];
    }
  }

  /** Records its calls on the sets last prepared as CUDA graphs, as the candidate's are. */
  void record() throws InterruptedException, Oracle.Refused {
    if (failure != null) return;
    JsonNode calls = batches.lend().answer();
    if (!batches.records(calls)) return;
    recorded = calls;
    replayed = new PairedSamples(sizes);
  }

  /** Times it on the sets last prepared; null if it is not timed, or fails or has failed. */
  @Nullable Batch measure(
      Series series, boolean counts, long flushBytes, double referenceMs, RandomGenerator random)
      throws InterruptedException, Oracle.Refused {
    boolean graphs = series.recorded() != null;
    if (failure != null || (graphs && recorded == null)) return null;
    JsonNode calls = batches.lend().answer();
    if (graphs && !calls.equals(recorded)) return null;
    Batch timed =
        graphs
            ? batches.replayed(calls.size(), counts, flushBytes, series.lead())
            : batches.candidate(calls, counts, flushBytes, series.lead(), referenceMs);
    if (timed.failed() != null) {
      failure = timed.failed();
      return null;
    }
    int slot = random.nextInt(timed.values().size());
    OracleMessage.Checked checked =
        batches.check(List.of(slot), List.of(timed.values().get(slot))).answer();
    if (!checked.correct()) {
      failure = Outcome.wrong(checked, Stage.PERF, "timed call of " + shape, List.of());
      return null;
    }
    return timed;
  }

  /**
   * Counts a round. With another run-ahead the rounds before do not count any more, as those of
   * candidate and reference do not.
   *
   * @param candidate the candidate's round, beside the reference
   * @param first whether the expert went first
   */
  void add(Series series, Round candidate, Batch expert, boolean first) {
    PairedSamples rounds =
        series.recorded() == null ? launched(series.lead()) : requireNonNull(replayed);
    rounds.add(
        new Round(
            candidate.candidateMs(),
            candidate.gapMs(),
            candidate.unevenMs(),
            Median.of(expert.deviceMs()),
            first,
            Round.step(expert.deviceMs()),
            candidate.hostBound() || expert.hostBound()));
  }

  private PairedSamples launched(HostRunAhead ahead) {
    if (ahead != lead) samples = new PairedSamples(sizes);
    lead = ahead;
    return samples;
  }

  /** Why it was not timed; null if it was. */
  @Nullable String failure() {
    if (failure != null) return failure.status().label() + ": " + failure.message();
    return samples.measured() == 0 ? "no round of it counts" : null;
  }

  /**
   * Its rounds, in which the expert is the reference.
   *
   * @param graphs whether the candidate's time is that of its graphs
   */
  PairedSamples settled(boolean graphs) {
    PairedSamples settled =
        graphs && replayed != null && replayed.measured() > 0 ? replayed : samples;
    settled.settle();
    return settled;
  }
}
