package dev.kbx.generate;

import dev.kbx.error.InputException;
import dev.kbx.generate.Ledger.Entry;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.verdict.Verdict.Speedup;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Speedups of the kernels in a ledger that is replayed, as they were measured when it was recorded.
 * They are shown beside what a replay finds, and decide nothing.
 */
public final class RecordedSpeedups {
  private final Map<Kernel, Event.RecordedSpeedup> byKernel = new HashMap<>();
  private final Map<Place, String> codes = new HashMap<>();

  private record Kernel(String task, String code) {}

  private record Place(Unit unit, String ask) {}

  private RecordedSpeedups() {}

  /** No recorded speedups. */
  public static RecordedSpeedups none() {
    return new RecordedSpeedups();
  }

  /**
   * The recorded speedups of a ledger; none if it has replies only, as one that was written by
   * hand.
   */
  public static RecordedSpeedups of(Path ledger) {
    RecordedSpeedups speedups = new RecordedSpeedups();
    try {
      Header _ = Ledger.read(ledger, speedups::add);
    } catch (InputException e) {
      return none();
    }
    speedups.codes.clear();
    return speedups;
  }

  private void add(Entry entry) {
    switch (entry.event()) {
      case Event.Extraction e -> {
        if (e.code() != null) codes.put(new Place(entry.unit(), e.ask()), e.code());
      }
      case Event.Program e -> {
        for (ProgramAnswer.Candidate own : e.answer().judge()) {
          codes.put(new Place(entry.unit(), own.id()), own.code());
        }
      }
      case Event.Judged e -> add(entry, e);
      case Event.RecordedSpeedup e -> put(entry.unit(), e);
      case Event.Prompt _,
          Event.Reply _,
          Event.NoReply _,
          Event.Lost _,
          Event.Feedback _,
          Event.ProgramFailed _,
          Event.Exchange _,
          Event.AgentEnded _,
          Event.Cap _,
          Event.Selection _ -> {}
    }
  }

  private void add(Entry entry, Event.Judged judged) {
    Speedup speedup = judged.judgement().speedup();
    if (speedup == null) return;
    String device = judged.judgement().device().name();
    put(
        entry.unit(),
        new Event.RecordedSpeedup(judged.ask(), speedup, device, entry.time().toString()));
  }

  private void put(Unit unit, Event.RecordedSpeedup speedup) {
    String code = codes.get(new Place(unit, speedup.ask()));
    if (code != null) byKernel.putIfAbsent(new Kernel(unit.task(), code), speedup);
  }

  /** The recorded speedup of a kernel in the reply to an ask. */
  Optional<Event.RecordedSpeedup> of(String task, String ask, @Nullable String code) {
    if (code == null) return Optional.empty();
    return Optional.ofNullable(byKernel.get(new Kernel(task, code)))
        .map(known ->
            new Event.RecordedSpeedup(ask, known.speedup(), known.device(), known.measured()));
  }
}
