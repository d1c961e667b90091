package dev.kbx.app;

import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.TrajectoryRecord;
import dev.kbx.generate.TrajectoryRecord.RoundRecord;
import dev.kbx.generate.Unit;
import dev.kbx.method.Event;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The trajectories of a ledger as rows for analyses, with what the final judgement said. */
public final class LedgerRows {
  private LedgerRows() {}

  /**
   * All that have ended: by method in the order given, then task, then sample.
   *
   * @param verdicts of the final judgement; empty if there is none
   */
  public static List<TrajectoryRow> of(Path ledger, List<VerdictRow> verdicts) {
    Header header = Ledger.header(ledger);
    Map<Unit, VerdictRow> judged = new HashMap<>();
    for (VerdictRow row : verdicts) {
      if (row.method() != null) judged.put(new Unit(row.method(), row.path(), row.sample()), row);
    }
    List<MethodSettings> methods = header.methods();
    List<TrajectoryRecord> all = TrajectoryRecord.read(ledger);
    List<TrajectoryRow> rows = new ArrayList<>();
    for (MethodSettings method : methods) {
      all.stream()
          .filter(record -> record.ended() && record.unit().method().equals(method.name()))
          .sorted(
              Comparator.comparing((TrajectoryRecord record) -> record.unit().task())
                  .thenComparingInt(record -> record.unit().sample()))
          .forEach(record -> rows.add(row(record, method.model(), judged.get(record.unit()))));
    }
    return rows;
  }

  private static TrajectoryRow row(
      TrajectoryRecord record, String model, @Nullable VerdictRow verdict) {
    RoundRecord answer = record.round(record.answer()).orElse(null);
    Status development = answer == null ? null : answer.status();
    return new TrajectoryRow(
        record.unit().method(),
        model,
        record.unit().task(),
        record.unit().sample(),
        answer != null && answer.code(),
        development == null ? null : (Boolean) (development == Status.CORRECT),
        verdict == null ? null : correct(verdict),
        record.rounds().stream().map(LedgerRows::round).toList(),
        record.spent(),
        reached(record, answer));
  }

  private static @Nullable Boolean correct(VerdictRow verdict) {
    return verdict.judged() ? (Boolean) (verdict.status() == Status.CORRECT) : null;
  }

  private static TrajectoryRow.Round round(RoundRecord round) {
    Event.RecordedSpeedup recorded = round.recorded();
    return new TrajectoryRow.Round(
        round.ask(),
        round.code(),
        round.status(),
        round.speedup(),
        recorded == null
            ? null
            : new TrajectoryRow.Recorded(
                recorded.speedup(), recorded.device(), recorded.measured()));
  }

  private static @Nullable Spent reached(TrajectoryRecord record, @Nullable RoundRecord answer) {
    return record.rounds().stream()
        .filter(RoundRecord::isCorrect)
        .min(Comparator.comparingLong(round -> round.spent().calls()))
        .or(() -> Optional.ofNullable(answer))
        .map(RoundRecord::spent)
        .orElse(null);
  }
}
