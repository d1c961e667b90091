package dev.kbx.analysis;

import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@code kbx bench noise}, as in {@code noise.json}.
 *
 * @param classes sizes by duration, then all that are timed to 1 %
 * @param devices the measured devices
 * @param floors noise floors of the devices with enough measured sizes
 * @param twins null if none were judged
 * @param untimed why references were not timed
 * @param missing candidates not judged before an interrupt; null if all were
 * @param rows every measurement of a reference
 */
public record NoiseReport(
    List<Verdict.Device> devices,
    Map<String, String> versions,
    Instant measured,
    List<NoiseClass> classes,
    List<NoiseFloor> floors,
    @Nullable NoiseTwins twins,
    List<String> untimed,
    @Nullable Integer missing,
    List<NoiseRow> rows) {
  /** Minimum number of different sizes for a noise floor. */
  public static final int LEAST_SIZES = 20;

  public NoiseReport {
    devices = List.copyOf(devices);
    versions = Map.copyOf(versions);
    floors = List.copyOf(floors);
    classes = List.copyOf(classes);
    untimed = List.copyOf(untimed);
    rows = List.copyOf(rows);
  }

  /**
   * Computes the figures.
   *
   * @param references verdicts on references judged as candidates
   * @param plain verdicts on the kernel that has a twin
   * @param slowed verdicts on that twin
   */
  public static NoiseReport of(
      Map<String, String> versions,
      Instant measured,
      List<Verdict> references,
      List<Verdict> plain,
      List<Verdict> slowed) {
    List<Verdict> all = Stream.of(references, plain, slowed).flatMap(List::stream).toList();
    List<Verdict.Device> devices =
        all.stream().map(v -> v.judgement().device()).distinct().toList();
    List<NoiseRow> rows = rows(references);
    return new NoiseReport(
        devices,
        versions,
        measured,
        NoiseClass.of(rows),
        devices.stream().flatMap(d -> floor(d, versions, measured, rows).stream()).toList(),
        NoiseTwins.of(rows(plain), rows(slowed)).orElse(null),
        all.stream()
            .filter(verdict -> verdict.judgement().sizes() == null)
            .map(NoiseReport::reason)
            .distinct()
            .toList(),
        null,
        rows);
  }

  /** The same for an interrupted run, without noise floors. */
  public NoiseReport cutOff(int without) {
    return new NoiseReport(
        devices, versions, measured, classes, List.of(), twins, untimed, without, rows);
  }

  private static List<NoiseRow> rows(List<Verdict> verdicts) {
    return verdicts.stream().flatMap(verdict -> NoiseRow.of(verdict).stream()).toList();
  }

  private static Optional<NoiseFloor> floor(
      Verdict.Device device, Map<String, String> versions, Instant measured, List<NoiseRow> rows) {
    List<NoiseRow> own =
        rows.stream().filter(row -> Objects.equals(row.device(), device.uuid())).toList();
    return NoiseClass.ofDevice(own)
        .filter(all -> all.sizes() >= LEAST_SIZES)
        .map(all ->
            new NoiseFloor(
                device,
                versions,
                measured,
                Math.expm1(all.p95()),
                NoiseClass.LONG_MS,
                all.sizes(),
                all.rows()));
  }

  private static String reason(Verdict verdict) {
    // The message of a policy is only advice.
    String why =
        verdict.judgement().evidence() == null
            ? verdict.judgement().message()
            : verdict.judgement().evidence();
    return "%s/%s: %s%s"
        .formatted(
            verdict.provenance().category(),
            verdict.provenance().task(),
            verdict.judgement().status().label(),
            why == null ? "" : ": " + why);
  }
}
