package dev.kbx.app;

import dev.kbx.analysis.FeedbackChange;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.error.InputException;
import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Recorded;
import dev.kbx.generate.TrajectoryRecord;
import dev.kbx.generate.TrajectoryRecord.RoundRecord;
import dev.kbx.generate.Transcript;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Unit;
import dev.kbx.method.Event;
import dev.kbx.report.LineDiff;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The ledgers of a results folder. */
public record Ledgers(Path folder) {
  /** A run to go on with. */
  record Found(Header header, Path file, Recorded recorded) {
    /** Itself. Throws if feedback would differ from that of its beginning. */
    private Found checked(Header wanted) {
      header.refuseOther(wanted);
      return this;
    }
  }

  /** Where a run's ledger is. */
  public static Path file(Path folder, String run) {
    return folder.resolve("runs").resolve(run).resolve(Ledger.NAME);
  }

  /**
   * The newest run of the same methods over the same tasks, preferably one that lacks answers.
   *
   * @param trajectories how many answers a complete run has
   */
  Optional<Found> earlier(Header wanted, int trajectories) {
    Found complete = null;
    for (Path file : newestFirst()) {
      Header header = Ledger.header(file);
      if (!header.isSameRunAs(wanted)) continue;
      Recorded recorded = Recorded.read(file);
      Found found = new Found(header, file, recorded);
      if (recorded.answered() < trajectories) return Optional.of(found.checked(wanted));
      if (complete == null) complete = found;
    }
    return Optional.ofNullable(complete).map(found -> found.checked(wanted));
  }

  /** The newest one. */
  Optional<Path> newest() {
    return newestFirst().stream().findFirst();
  }

  private List<Path> newestFirst() {
    Path runs = folder.resolve("runs");
    if (!Files.isDirectory(runs)) return List.of();
    try (Stream<Path> all = Files.list(runs)) {
      return all.map(run -> run.resolve(Ledger.NAME))
          .filter(Files::exists)
          .sorted(Comparator.<Path>naturalOrder().reversed())
          .toList();
    } catch (IOException e) {
      throw new InputException("%s: cannot be read: %s".formatted(runs, Reason.of(e)), e);
    }
  }

  /**
   * The trajectories of a ledger that have ended: by method in the order given, then task, then
   * sample.
   *
   * @param verdicts of the final judgement; empty if there is none
   */
  public static List<TrajectoryRow> rows(Path ledger, List<VerdictRow> verdicts) {
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

  /** What was written after feedback, and judged: by method, task and sample in their order. */
  public static List<FeedbackChange.Followed> followed(Path ledger) {
    List<FeedbackChange.Followed> all = new ArrayList<>();
    for (Transcript.Trajectory trajectory : Transcript.read(ledger).trajectories()) {
      Map<String, Kernel> judged = new HashMap<>();
      for (Kernel kernel : trajectory.kernels()) {
        if (kernel.judgement() == null) continue;
        Stream<Kernel> told = kernel.told().stream().map(judged::get).filter(Objects::nonNull);
        told.map(before -> followed(trajectory, before, kernel))
            .flatMap(Optional::stream)
            .reduce((one, other) -> other.changed() <= one.changed() ? other : one)
            .ifPresent(all::add);
        judged.put(kernel.ask(), kernel);
      }
    }
    return all;
  }

  private static Optional<FeedbackChange.Followed> followed(
      Transcript.Trajectory trajectory, Kernel before, Kernel after) {
    if (before.judgement() == null || after.judgement() == null) return Optional.empty();
    return Optional.of(
        new FeedbackChange.Followed(
            trajectory.method(),
            trajectory.model(),
            trajectory.task(),
            before.judgement().status(),
            after.judgement().status(),
            1 - new LineDiff(before.code(), after.code()).similarity()));
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
        record.rounds().stream().map(Ledgers::round).toList(),
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
