package dev.kbx.analysis;

import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What analyses need of one trajectory: a method at a task for one sample.
 *
 * @param task {@code Category/name}
 * @param code whether its answer has code
 * @param development whether the answer is correct on development inputs; null if it was not judged
 *     there
 * @param correct whether it is in the final judgement, on inputs that the method did not see; null
 *     if that says nothing about it, or has not been made
 * @param rounds its requests in order
 * @param spent in all
 * @param reached spent up to the first kernel that was correct on development inputs; without one,
 *     up to the answer; null if there is no answer
 */
public record TrajectoryRow(
    String method,
    String model,
    String task,
    int sample,
    boolean code,
    @Nullable Boolean development,
    @Nullable Boolean correct,
    List<Round> rounds,
    Spent spent,
    @Nullable Spent reached) {
  public TrajectoryRow {
    rounds = List.copyOf(rounds);
  }

  /** Its turns: kernels that were judged on development inputs. */
  int turns() {
    return (int) rounds.stream().filter(round -> round.status() != null).count();
  }

  /** The first turn, from 1, whose kernel is correct on development inputs; null without one. */
  @Nullable Integer firstCorrect() {
    int turn = 0;
    for (Round round : rounds) {
      if (round.status() == null) continue;
      turn++;
      if (round.status() == Status.CORRECT) return turn;
    }
    return null;
  }

  /**
   * One request and what came of it.
   *
   * @param code whether the reply has code
   * @param status on development inputs; null if it was not judged there, as is {@code speedup}
   * @param recorded null if it replays no ledger, or one that has none
   */
  public record Round(
      String ask,
      boolean code,
      @Nullable Status status,
      @Nullable Speedup speedup,
      @Nullable Recorded recorded) {}

  /**
   * A speedup of the ledger that is replayed, not of this run.
   *
   * @param device that it was measured on, by name
   * @param time when, in ISO 8601
   */
  public record Recorded(Speedup speedup, String device, String time) {
    /** {@code NVIDIA H200, 2026-11-25}. */
    public String where() {
      return device + ", " + time.substring(0, Math.min(10, time.length()));
    }
  }

  /** Where and when recorded speedups of some trajectories were measured; empty if none has one. */
  public static List<String> recordedOn(List<TrajectoryRow> rows) {
    return rows.stream()
        .flatMap(row -> row.rounds().stream())
        .map(Round::recorded)
        .filter(Objects::nonNull)
        .map(Recorded::where)
        .distinct()
        .sorted()
        .toList();
  }
}
