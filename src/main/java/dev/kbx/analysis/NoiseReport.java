package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonInclude;
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
 * What {@code kbx bench noise} found: {@code noise.json}.
 *
 * @param classes sizes by what they take, then all that are worth timing to 1 %
 * @param devices what the measurements were taken on
 * @param floors one for each device on which enough sizes were measured
 * @param twins null where none were judged
 * @param untimed why references have no times
 * @param missing candidates that were not judged before it was cut off; null where all were
 * @param rows every measurement of a reference
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
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
  /**
   * How many different sizes a noise floor needs: fewer say more of themselves than of the machine.
   */
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
   * Makes the figures of verdicts.
   *
   * @param references on references as their own candidates
   * @param plain on the kernel that has a twin
   * @param slowed on that twin
   */
  public static NoiseReport of(
      Map<String, String> versions,
      Instant measured,
      List<Verdict> references,
      List<Verdict> plain,
      List<Verdict> slowed) {
    List<Verdict> all = Stream.of(references, plain, slowed).flatMap(List::stream).toList();
    List<Verdict.Device> devices = all.stream().map(Verdict::device).distinct().toList();
    List<NoiseRow> rows = rows(references);
    return new NoiseReport(
        devices,
        versions,
        measured,
        NoiseClass.of(rows),
        devices.stream().flatMap(d -> floor(d, versions, measured, rows).stream()).toList(),
        NoiseTwins.of(rows(plain), rows(slowed)).orElse(null),
        all.stream()
            .filter(verdict -> verdict.sizes() == null)
            .map(NoiseReport::reason)
            .distinct()
            .toList(),
        null,
        rows);
  }

  /** The same of a run that was cut off, without floors: too little was measured for one. */
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
    String why = verdict.message() == null ? verdict.evidence() : verdict.message();
    return "%s/%s: %s%s"
        .formatted(
            verdict.category(),
            verdict.task(),
            verdict.status().label(),
            why == null ? "" : ": " + why);
  }
}
