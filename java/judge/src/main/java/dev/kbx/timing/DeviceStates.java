package dev.kbx.timing;

import static dev.kbx.timing.Defaults.MAX_REPEATS;

import dev.kbx.stats.Median;
import dev.kbx.verdict.Verdict.Clocks;
import dev.kbx.worker.OracleMessage.DeviceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The device's state over the rounds of one size; tells which rounds throttling spoiled. */
final class DeviceStates {
  private final List<DeviceState> states = new ArrayList<>();
  private int repeats;

  /**
   * Whether a round must be repeated, given the device's state in it; otherwise records the state.
   */
  boolean spoilt(@Nullable DeviceState state) {
    if (state == null) return false;
    if (state.slowed() && repeats < MAX_REPEATS) {
      repeats++;
      return true;
    }
    states.add(state);
    return false;
  }

  /** Whether throttled rounds count. */
  boolean throttled() {
    return states.stream().anyMatch(DeviceState::slowed);
  }

  /** Medians over the counted rounds; null if nothing is known. */
  @Nullable Clocks clocks() {
    var clocks =
        new Clocks(
            median(DeviceState::smMhz),
            median(DeviceState::memoryMhz),
            median(DeviceState::celsius),
            median(DeviceState::watts));
    return clocks.equals(new Clocks(null, null, null, null)) ? null : clocks;
  }

  /** Throttle reasons in counted rounds, in order of appearance; null if unknown. */
  @Nullable List<String> throttle() {
    List<List<String>> known =
        states.stream().map(DeviceState::throttle).filter(Objects::nonNull).toList();
    return known.isEmpty() ? null : known.stream().flatMap(List::stream).distinct().toList();
  }

  private @Nullable Double median(Function<DeviceState, @Nullable Double> part) {
    double[] known =
        states.stream()
            .map(part)
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .toArray();
    return known.length == 0 ? null : Median.of(known);
  }
}
