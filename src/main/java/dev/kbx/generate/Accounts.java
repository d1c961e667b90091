package dev.kbx.generate;

import dev.kbx.method.Event;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What was spent by whom. Safe for several threads. */
final class Accounts {
  private final Map<String, Spending> byMethod = new HashMap<>();
  private final Map<Unit, Spending> byUnit = new HashMap<>();
  private final Map<Unit, Integer> reserved = new HashMap<>();
  private final Map<String, Integer> reservedByMethod = new HashMap<>();

  synchronized void add(Unit unit, Event event) {
    if (event instanceof Event.Prompt && reserved.containsKey(unit)) count(unit, -1);
    Spending known = byUnit.getOrDefault(unit, Spending.NOTHING);
    byUnit.put(unit, known.with(event));
    byMethod.merge(unit.method(), Spending.NOTHING.with(event), Spending::plus);
  }

  /** What one trajectory spent. */
  synchronized Spending of(Unit unit) {
    return byUnit.getOrDefault(unit, Spending.NOTHING);
  }

  /** What a method spent. */
  synchronized Spending of(String method) {
    return byMethod.getOrDefault(method, Spending.NOTHING);
  }

  /** What all methods spent. */
  synchronized Spending all() {
    return byMethod.values().stream().reduce(Spending.NOTHING, Spending::plus);
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
            .refusesRequest(with(of(unit), reserved.get(unit)), wall.trajectory())
            .or(() ->
                settings
                    .inAll()
                    .refusesRequest(
                        with(of(unit.method()), reservedByMethod.get(unit.method())),
                        wall.session()));
    if (refused.isEmpty()) count(unit, 1);
    return refused;
  }

  private void count(Unit unit, int more) {
    reserved.merge(unit, more, Accounts::sum);
    reservedByMethod.merge(unit.method(), more, Accounts::sum);
  }

  private static @Nullable Integer sum(int one, int other) {
    return one + other == 0 ? null : Integer.valueOf(one + other);
  }

  private static Spending with(Spending spent, @Nullable Integer reserved) {
    return reserved == null ? spent : spent.plus(Spending.calls(reserved));
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
