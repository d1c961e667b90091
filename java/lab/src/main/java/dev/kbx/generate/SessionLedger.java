package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The ledger of a run of sessions, whose events are kept in the store. */
public final class SessionLedger {
  private SessionLedger() {}

  /**
   * A session.
   *
   * @param answer null while it has none
   */
  public record Trajectory(Unit unit, List<SessionTurn> turns, @Nullable Chosen answer) {
    public Trajectory {
      turns = List.copyOf(turns);
    }
  }

  /**
   * The answer of a session.
   *
   * @param turn null if it had no turn to choose
   * @param why in words
   */
  public record Chosen(@Nullable Integer turn, String why, Instant at) {}

  /** Writes the ledger, in place of an earlier one. */
  public static void write(Path file, Header header, Iterable<Trajectory> sessions) {
    // Others may read the same run at the same time.
    String name = "%s.%d.new".formatted(file.getFileName(), ProcessHandle.current().pid());
    Path whole = file.resolveSibling(name);
    AtomicReference<Instant> time = new AtomicReference<>(header.started());
    try {
      boolean _ = Files.deleteIfExists(whole);
      try (Ledger ledger = Ledger.create(whole, header, time::get)) {
        for (Trajectory session : sessions) append(ledger, session, time);
      }
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void append(Ledger ledger, Trajectory session, AtomicReference<Instant> time) {
    for (SessionTurn turn : session.turns()) {
      for (Event event : turn.events()) {
        Instant found = turn.found();
        time.set(event instanceof Event.Judged && found != null ? found : turn.sent());
        ledger.append(session.unit(), event);
      }
    }
    Chosen answer = session.answer();
    if (answer == null) return;
    time.set(answer.at());
    Integer turn = answer.turn();
    String ask = turn == null ? null : "turn-" + turn;
    int number = session.turns().size();
    ledger.append(
        session.unit(), SessionTurn.answer(number, List.of(), new ProgramAnswer.Done(ask)));
    ledger.append(session.unit(), new Event.Selection(ask, answer.why()));
  }
}
