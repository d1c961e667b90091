package dev.kbx.timing;

import dev.kbx.outcome.Outcome;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.RunnerMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One batch of timed calls, of either side.
 *
 * @param deviceMs milliseconds of each call
 * @param values what the candidate's calls returned; empty for the reference
 * @param gapMs wall-clock milliseconds a call that device time does not explain
 * @param state of the device right after the reference's batch
 * @param hostBound whether the device may have waited for the host in most calls
 * @param peakBytes the most memory that a call held; null if unknown
 * @param ran for each call of the candidate, PyTorch's operations that computed in it
 * @param failed why there are no times; null if there are
 */
record Batch(
    List<Double> deviceMs,
    List<JsonNode> values,
    double gapMs,
    OracleMessage.@Nullable DeviceState state,
    boolean hostBound,
    @Nullable Long peakBytes,
    List<List<String>> ran,
    @Nullable Outcome failed) {

  /**
   * A batch of the candidate.
   *
   * @param wallMs wall-clock milliseconds of all calls together
   */
  static Batch of(RunnerMessage.Measured measured, double wallMs) {
    List<Double> ms = measured.deviceMs();
    boolean hostBound = most(measured.hostBound(), ms);
    List<List<String>> ran = measured.ran() == null ? List.of() : measured.ran();
    double gapMs = gapMs(ms, wallMs);
    return new Batch(
        ms, measured.values(), gapMs, null, hostBound, measured.peakBytes(), ran, null);
  }

  /**
   * A batch of the reference.
   *
   * @param wallMs as above
   */
  static Batch of(OracleMessage.BaselineMeasured measured, double wallMs) {
    List<Double> ms = measured.deviceMs();
    boolean hostBound = most(measured.hostBound(), ms);
    double gapMs = gapMs(ms, wallMs);
    return new Batch(
        ms, List.of(), gapMs, measured.state(), hostBound, measured.peakBytes(), List.of(), null);
  }

  static Batch failed(Outcome outcome) {
    return new Batch(List.of(), List.of(), 0, null, false, null, List.of(), outcome);
  }

  private static boolean most(int calls, List<Double> of) {
    return 2 * calls > of.size();
  }

  private static double gapMs(List<Double> deviceMs, double wallMs) {
    double device = deviceMs.stream().mapToDouble(Double::doubleValue).sum();
    return (wallMs - device) / deviceMs.size();
  }
}
