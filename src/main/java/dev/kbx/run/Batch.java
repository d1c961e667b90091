package dev.kbx.run;

import dev.kbx.worker.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One batch of timed calls, of either side.
 *
 * @param deviceMs milliseconds of each call
 * @param values what the candidate's calls returned; empty for the reference
 * @param gapMs wall-clock milliseconds a call that the device time does not explain
 * @param state of the device right after the reference's batch
 * @param failed why there are no times
 */
record Batch(
    List<Double> deviceMs,
    List<JsonNode> values,
    double gapMs,
    Message.@Nullable DeviceState state,
    @Nullable Outcome failed) {

  /**
   * @param wallMs milliseconds of the wall clock that all calls took together
   */
  static Batch of(
      List<Double> deviceMs,
      List<JsonNode> values,
      Message.@Nullable DeviceState state,
      double wallMs) {
    double device = deviceMs.stream().mapToDouble(Double::doubleValue).sum();
    return new Batch(deviceMs, values, (wallMs - device) / deviceMs.size(), state, null);
  }

  static Batch failed(Outcome outcome) {
    return new Batch(List.of(), List.of(), 0, null, outcome);
  }
}
