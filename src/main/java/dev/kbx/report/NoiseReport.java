package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What {@code kbx bench noise} found: {@code noise.json}.
 *
 * @param classes sizes by what they take, then all that are worth timing to 1 %
 * @param floor null where too few sizes were measured for one
 * @param twins null where none were judged
 * @param untimed why references have no times
 * @param rows every measurement of a reference
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NoiseReport(
    Verdict.Device device,
    Map<String, String> versions,
    Instant measured,
    List<NoiseClass> classes,
    @Nullable NoiseFloor floor,
    @Nullable NoiseTwins twins,
    List<String> untimed,
    List<NoiseRow> rows) {
  /** Different sizes from which on they speak for a machine and not for themselves. */
  public static final int LEAST_SIZES = 20;

  public NoiseReport {
    versions = Map.copyOf(versions);
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
      Verdict.Device device,
      Map<String, String> versions,
      Instant measured,
      List<Verdict> references,
      List<Verdict> plain,
      List<Verdict> slowed) {
    List<NoiseRow> rows = rows(references);
    return new NoiseReport(
        device,
        versions,
        measured,
        NoiseClass.of(rows),
        floor(device, versions, measured, rows).orElse(null),
        NoiseTwins.of(rows(plain), rows(slowed)).orElse(null),
        Stream.of(references, plain, slowed)
            .flatMap(List::stream)
            .filter(verdict -> verdict.sizes() == null)
            .map(NoiseReport::reason)
            .distinct()
            .toList(),
        rows);
  }

  /** Writes {@code noise.json} in a folder. Throws {@link UnwritableException}. */
  public void write(Path folder) {
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(this);
    AtomicFile.replace(folder.resolve("noise.json"), writer -> writer.write(text + "\n"));
  }

  private static List<NoiseRow> rows(List<Verdict> verdicts) {
    return verdicts.stream().flatMap(verdict -> NoiseRow.of(verdict).stream()).toList();
  }

  private static Optional<NoiseFloor> floor(
      Verdict.Device device, Map<String, String> versions, Instant measured, List<NoiseRow> rows) {
    return NoiseClass.ofLong(rows)
        .filter(all -> all.sizes() >= LEAST_SIZES)
        .map(all ->
            new NoiseFloor(
                device,
                versions,
                measured,
                all.p95(),
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
