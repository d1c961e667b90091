package dev.kbx.generate;

import dev.kbx.generate.Ledger.Entry;
import dev.kbx.method.Event;
import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.verdict.Spent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What earlier sessions of a run did, by trajectory, from its ledger, and what all have spent. Safe
 * for several threads.
 */
public final class Recorded {
  private final Accounts accounts = new Accounts();
  private final Map<Unit, History> open = new HashMap<>();
  private final Map<Unit, Set<String>> inFlight = new HashMap<>();
  private final Map<Unit, Generation.Answered> answers = new HashMap<>();

  /**
   * The past of a trajectory.
   *
   * @param answered null if it has no answer yet
   * @param lost asks that were in flight when kbx ended
   */
  record Past(Generation.@Nullable Answered answered, List<String> lost) {}

  private Recorded() {}

  /** Nothing. */
  public static Recorded nothing() {
    return new Recorded();
  }

  /** What a ledger holds. */
  public static Recorded read(Path ledger) {
    Recorded recorded = new Recorded();
    Header _ = Ledger.read(ledger, recorded::add);
    return recorded;
  }

  private synchronized void add(Entry entry) {
    Unit unit = entry.unit();
    Event event = entry.event();
    accounts.add(unit, event);
    switch (event) {
      case Event.Prompt e -> flights(unit).add(e.ask());
      case Event.Reply e -> flights(unit).remove(e.ask());
      case Event.Lost e -> flights(unit).remove(e.ask());
      case Event.NoReply e -> flights(unit).remove(e.ask());
      case Event.Feedback _, Event.Extraction _, Event.RecordedSpeedup _, Event.Judged _ -> {}
      case Event.Program _, Event.ProgramFailed _, Event.Cap _ -> {}
      case Event.Exchange _, Event.AgentEnded _ -> {}
      case Event.Selection e -> {
        answers.put(unit, answer(e, history(unit)));
        open.remove(unit);
        inFlight.remove(unit);
        return;
      }
    }
    open.put(unit, history(unit).with(event));
  }

  private static Generation.Answered answer(Event.Selection selected, History history) {
    String ask = selected.ask();
    String code = ask == null ? null : history.of(ask).map(History.Outcome::code).orElse(null);
    return Generation.Answered.of(new Next.Answer(ask, code, selected.why()), history);
  }

  private History history(Unit unit) {
    return open.getOrDefault(unit, History.empty());
  }

  private Set<String> flights(Unit unit) {
    return inFlight.computeIfAbsent(unit, _ -> new LinkedHashSet<>());
  }

  synchronized Past of(Unit unit) {
    return new Past(answers.get(unit), new ArrayList<>(inFlight.getOrDefault(unit, Set.of())));
  }

  /** The history of an open trajectory, which is forgotten here. */
  synchronized History take(Unit unit) {
    History history = open.remove(unit);
    return history == null ? History.empty() : history;
  }

  Accounts accounts() {
    return accounts;
  }

  /** What was spent so far, by all sessions of the run, the present one included. */
  public Spent spent() {
    return accounts.all();
  }

  /** How many trajectories have an answer. */
  public synchronized int answered() {
    return answers.size();
  }
}
