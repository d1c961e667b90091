package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a ledger says of one trajectory, without its texts: a few hundred bytes a request.
 *
 * @param rounds in the order in which their requests were sent
 * @param answer the ask whose kernel is the answer; null if there is none
 * @param ended whether it has its answer, or ended without one
 * @param programFailure what an external program did wrong; null if nothing
 * @param spent in all
 */
public record TrajectoryRecord(
    Unit unit,
    List<RoundRecord> rounds,
    @Nullable String answer,
    boolean ended,
    @Nullable String programFailure,
    Spent spent) {
  public TrajectoryRecord {
    rounds = List.copyOf(rounds);
  }

  /** All trajectories of a ledger, in the order in which they began. */
  public static List<TrajectoryRecord> read(Path ledger) {
    Map<Unit, Reading> all = new LinkedHashMap<>();
    Header _ =
        Ledger.read(
            ledger, entry -> all.computeIfAbsent(entry.unit(), Reading::new).add(entry.event()));
    Collection<Reading> readings = all.values();
    return readings.stream().map(Reading::record).toList();
  }

  /** The round of an ask. */
  public Optional<RoundRecord> round(@Nullable String ask) {
    return rounds.stream().filter(round -> round.ask().equals(ask)).findFirst();
  }

  /** Whether any kernel was judged on development inputs. */
  public boolean judged() {
    return rounds.stream().anyMatch(round -> round.status() != null);
  }

  /** One trajectory while its events are read. */
  private static final class Reading {
    private final Unit unit;
    private final Map<String, RoundRecord> rounds = new LinkedHashMap<>();
    private Spent spent = Spent.NOTHING;
    private @Nullable String answer;
    private @Nullable String programFailure;
    private boolean ended;

    Reading(Unit unit) {
      this.unit = unit;
    }

    void add(Event event) {
      spent = spent.plus(Costs.of(event));
      switch (event) {
        case Event.Prompt e -> update(e.ask(), e);
        case Event.Reply e -> update(e.ask(), e);
        case Event.NoReply e -> update(e.ask(), e);
        case Event.Lost e -> update(e.ask(), e);
        case Event.Extraction e -> update(e.ask(), e);
        case Event.RecordedSpeedup e -> update(e.ask(), e);
        case Event.Program e -> {
          for (ProgramAnswer.Candidate own : e.answer().judge()) update(own.id(), e);
        }
        case Event.Judged e -> update(e.ask(), e);
        case Event.Selection e -> {
          answer = e.ask();
          ended = true;
        }
        // A round begins with its prompt; what it is about comes before.
        case Event.Feedback _, Event.Cap _, Event.Exchange _, Event.AgentEnded _ -> {}
        case Event.ProgramFailed e -> programFailure = e.what();
      }
    }

    private void update(String ask, Event event) {
      RoundRecord known = rounds.getOrDefault(ask, RoundRecord.of(ask));
      rounds.put(ask, known.with(event, spent));
    }

    TrajectoryRecord record() {
      return new TrajectoryRecord(
          unit, new ArrayList<>(rounds.values()), answer, ended, programFailure, spent);
    }
  }

  /**
   * One request of a trajectory and what came of it, without its texts.
   *
   * @param code whether the reply has code
   * @param status on development inputs; null if it was not judged there, as is {@code speedup}
   * @param recorded the speedup in the ledger that was replayed; null if there is none
   * @param spent by the trajectory up to the last event of this round
   */
  public record RoundRecord(
      String ask,
      boolean code,
      @Nullable Status status,
      @Nullable Speedup speedup,
      Event.@Nullable RecordedSpeedup recorded,
      Spent spent) {
    static RoundRecord of(String ask) {
      return new RoundRecord(ask, false, null, null, null, Spent.NOTHING);
    }

    /** With one more event, after which the trajectory had spent so much. */
    RoundRecord with(Event event, Spent now) {
      return switch (event) {
        case Event.Extraction e ->
            new RoundRecord(ask, e.code() != null, status, speedup, recorded, now);
        case Event.Program _ -> new RoundRecord(ask, true, status, speedup, recorded, now);
        case Event.RecordedSpeedup e -> new RoundRecord(ask, code, status, speedup, e, now);
        case Event.Judged e -> judged(e.judgement(), now);
        case Event.Prompt _,
            Event.Reply _,
            Event.NoReply _,
            Event.Lost _,
            Event.Feedback _,
            Event.ProgramFailed _,
            Event.Exchange _,
            Event.AgentEnded _,
            Event.Cap _,
            Event.Selection _ ->
            new RoundRecord(ask, code, status, speedup, recorded, now);
      };
    }

    private RoundRecord judged(Judgement found, Spent now) {
      return new RoundRecord(ask, code, found.status(), found.speedup(), recorded, now);
    }

    /** Whether its kernel is correct on development inputs. */
    public boolean isCorrect() {
      return status == Status.CORRECT;
    }
  }
}
