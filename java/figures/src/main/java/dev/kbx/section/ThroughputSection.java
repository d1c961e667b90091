package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.Throughput;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.verdict.Stage;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** {@link Throughput}: candidates a device-hour, and where the time went. */
public final class ThroughputSection {
  private static final List<String> MEASURING =
      List.of("candidate", "warm up", "reference", "baseline");

  private ThroughputSection() {}

  public static Section of(Throughput found) {
    Blocks blocks = new Blocks();
    blocks.prose(
        "%s in %s on %d x %s, %d at a time: %s a device-hour.",
        Counted.of(found.pace().candidates(), "candidate"),
        Cell.seconds(found.pace().seconds()).text(),
        found.devices(),
        found.device().name(),
        found.slots(),
        Cell.count(Math.round(found.pace().perDeviceHour())).text());
    if (found.missing() != null) {
      blocks.note("Cut off: %s without a verdict.", Cell.count(found.missing()).text());
    }
    if (found.pace().aloneSeconds() != null) {
      blocks.note(
          "Each alone: median %s from one verdict to the next.",
          Cell.seconds(found.pace().aloneSeconds()).text());
    }
    blocks.note(
        found.statuses().entrySet().stream()
            .map(each -> each.getKey() + " " + each.getValue())
            .collect(joining(", ", "Statuses: ", ".")));
    blocks.table(
        "stages",
        "",
        List.of(
            Column.text("stage", Stage::label),
            Column.number("candidates", each -> Cell.count(spent(found, each).candidates())),
            Column.number("median", each -> Cell.seconds(spent(found, each).median())),
            Column.number("most", each -> Cell.seconds(spent(found, each).most())),
            Column.<Stage>number("all", each -> Cell.seconds(spent(found, each).all()))),
        Arrays.stream(Stage.values())
            .filter(stage -> found.stages().containsKey(stage.label()))
            .toList());
    found.timing().forEach((gpu, parts) -> alone(blocks, gpu, parts, found.pace().seconds()));
    return blocks.section("throughput", "Throughput");
  }

  private static Throughput.Stage spent(Throughput found, Stage stage) {
    return Objects.requireNonNull(found.stages().get(stage.label()));
  }

  /** Causes of exclusive GPU time, the longest first. */
  private static void alone(Blocks blocks, int gpu, Map<String, Double> parts, double seconds) {
    double sum = parts.values().stream().mapToDouble(Double::doubleValue).sum();
    double measuring = MEASURING.stream().mapToDouble(part -> parts.getOrDefault(part, 0.0)).sum();
    blocks.table(
        "gpu-" + gpu,
        "GPU %d: one candidate alone for %s, %s of the time; %s of that is measuring."
            .formatted(
                gpu,
                Cell.seconds(sum).text(),
                Cell.share(sum / seconds).text(),
                Cell.share(measuring / sum).text()),
        List.of(
            Column.text("for", Map.Entry<String, Double>::getKey),
            Column.<Map.Entry<String, Double>>number(
                "time", each -> Cell.seconds(each.getValue()))),
        parts.entrySet().stream()
            .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
            .toList());
  }
}
