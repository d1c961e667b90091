package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.verdict.Spent;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What was spent by whom. Safe for several threads. */
final class Accounts {
  private final Map<String, Spent> byMethod = new HashMap<>();
  private final Map<Unit, Spent> byUnit = new HashMap<>();
  private final Map<Unit, Spent> reserved = new HashMap<>();
  private final Map<String, Spent> reservedByMethod = new HashMap<>();

  synchronized void add(Unit unit, Event event) {
    Spent more = Costs.of(event);
    if (!(event instanceof Event.Program)) release(unit, more);
    byUnit.merge(unit, more, Spent::plus);
    byMethod.merge(unit.method(), more, Spent::plus);
  }

  /** What was reserved is now spent; nothing of an earlier session was. */
  private void release(Unit unit, Spent spent) {
    if (reserved.containsKey(unit)) reserve(unit, Costs.released(spent));
  }

  /** What one trajectory spent. */
  synchronized Spent of(Unit unit) {
    return byUnit.getOrDefault(unit, Spent.NOTHING);
  }

  /** What a method spent. */
  synchronized Spent of(String method) {
    return byMethod.getOrDefault(method, Spent.NOTHING);
  }

  /** What all methods spent. */
  synchronized Spent all() {
    return byMethod.values().stream().reduce(Spent.NOTHING, Spent::plus);
  }

  /**
   * Reserves a request, whose prompt is added next.
   *
   * @return the limit that does not allow it, in words
   */
  synchronized Optional<String> reserve(Unit unit, MethodSettings settings, Wall wall) {
    Optional<String> refused =
        settings
            .perTask()
            .refusesRequest(taken(unit), wall.trajectory())
            .or(() -> settings.inAll().refusesRequest(taken(unit.method()), wall.session()));
    if (refused.isEmpty()) reserve(unit, Costs.calls(1));
    return refused;
  }

  /**
   * Reserves a request that repeats one whose prompt is known; the reply counts both.
   *
   * @return the limit that does not allow it, in words
   */
  synchronized Optional<String> reserveAgain(Unit unit, MethodSettings settings, Wall wall) {
    Optional<String> refused =
        settings
            .perTask()
            .refusesRepetition(taken(unit), wall.trajectory())
            .or(() -> settings.inAll().refusesRepetition(taken(unit.method()), wall.session()));
    if (refused.isEmpty()) reserve(unit, Costs.repeated(1));
    return refused;
  }

  /** Gives back what was reserved for a request that was not sent. */
  synchronized void giveBack(Unit unit) {
    reserve(unit, Costs.calls(-1));
  }

  private void reserve(Unit unit, Spent more) {
    reserved.merge(unit, more, Spent::plus);
    reservedByMethod.merge(unit.method(), more, Spent::plus);
  }

  private Spent taken(Unit unit) {
    return of(unit).plus(reserved.getOrDefault(unit, Spent.NOTHING));
  }

  private Spent taken(String method) {
    return of(method).plus(reservedByMethod.getOrDefault(method, Spent.NOTHING));
  }

  /** The limit that allows a trajectory no further judgement, in words. */
  Optional<String> refusesTrial(Unit unit, MethodSettings settings, Wall wall) {
    return settings
        .perTask()
        .refusesTrial(of(unit), wall.trajectory())
        .or(() -> settings.inAll().refusesTrial(of(unit.method()), wall.session()));
  }

  /**
   * The limit that allows a program no further answer, in words: as for judgements, and that of
   * requests once it has made more by its own word.
   */
  Optional<String> refusesAnswer(Unit unit, MethodSettings settings, Wall wall) {
    return refusesTrial(unit, settings, wall)
        .or(() -> settings.perTask().refusesReported(of(unit)))
        .or(() -> settings.inAll().refusesReported(of(unit.method())));
  }

  /**
   * Seconds.
   *
   * @param trajectory since it began in this session
   * @param session since the session began
   */
  record Wall(double trajectory, double session) {}
}
