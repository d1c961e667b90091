package dev.kbx.report;

import dev.kbx.analysis.NoiseClass;
import dev.kbx.analysis.NoiseReport;
import dev.kbx.analysis.NoiseShare;
import dev.kbx.analysis.NoiseTwins;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Result of {@code kbx bench noise} for a terminal.
 *
 * @param width columns of the terminal
 */
public record NoiseTable(int width) {
  private static final int REASONS = 10;

  /** The text, ending in a line break. */
  public String render(NoiseReport report) {
    List<String> lines = new ArrayList<>();
    for (Verdict.Device device : report.devices()) lines.add(title(device));
    lines.add("measured " + report.measured());
    if (!report.classes().isEmpty()) classes(report.classes(), lines);
    boolean several = report.devices().size() > 1;
    for (NoiseFloor floor : report.floors()) lines.add(verdict(floor, several));
    int without = report.devices().size() - report.floors().size();
    if (report.missing() != null) lines.add(cutOff(report.missing()));
    else if (report.floors().isEmpty() && !report.rows().isEmpty()) lines.add(tooFew(report));
    else if (without > 0 && !report.rows().isEmpty()) lines.add(without(without));
    if (report.twins() != null) lines.addAll(twins(report.twins()));
    untimed(report.untimed(), lines);
    return String.join("\n", lines) + "\n";
  }

  private static String title(Verdict.Device device) {
    String driver = device.driver() == null ? "" : ", driver " + device.driver();
    return Text.clean(device.name() + driver + (device.uuid() == null ? "" : ", " + device.uuid()));
  }

  private void classes(List<NoiseClass> classes, List<String> lines) {
    lines.add("");
    lines.add("references against themselves; |log speedup| and half widths in percent");
    lines.add(
        Text.cut(
            "%-9s %5s %5s %5s %5s %5s %6s  %-18s %-18s %5s %6s"
                .formatted(
                    "a call",
                    "sizes",
                    "rows",
                    "p50",
                    "p90",
                    "p95",
                    "max",
                    "within 1 %",
                    "intervals hold 1",
                    "half",
                    "rounds"),
            width));
    for (NoiseClass each : classes) lines.add(Text.cut(line(each), width));
    lines.add("");
  }

  private static String line(NoiseClass each) {
    return String.format(
        Locale.ROOT,
        "%-9s %5d %5d %5.2f %5.2f %5.2f %6.2f  %-18s %-18s %5.2f %6.1f",
        each.name(),
        each.sizes(),
        each.rows(),
        100 * each.median(),
        100 * each.p90(),
        100 * each.p95(),
        100 * each.largest(),
        text(each.withinOnePercent()),
        text(each.cover()),
        100 * each.halfWidth(),
        each.rounds());
  }

  /** {@code 96.3 % [94.1–97.8]}. */
  private static String text(NoiseShare share) {
    return String.format(
        Locale.ROOT,
        "%.1f %% [%.1f–%.1f]",
        100 * share.share(),
        100 * share.low(),
        100 * share.high());
  }

  /**
   * @param several whether there are more devices than this
   */
  private static String verdict(NoiseFloor floor, boolean several) {
    return String.format(
        Locale.ROOT,
        "differences below %.2f %% cannot be resolved on %s at sizes >= %.0f us that are"
            + " not host-bound (95th percentile of |log speedup|, %d rows of %d sizes)",
        100 * floor.relative(),
        several ? Text.clean("" + floor.device().uuid()) : "this machine",
        1000 * floor.fromMs(),
        floor.rows(),
        floor.sizes());
  }

  private static String cutOff(int missing) {
    return "cut off before %,d candidates were judged: no floor is kept".formatted(missing);
  }

  private static String without(int devices) {
    return "no floor is kept of %s that timed fewer than %d sizes >= 50 us; --repeats gives each more"
        .formatted(Counted.of(devices, "other device"), NoiseReport.LEAST_SIZES);
  }

  private static String tooFew(NoiseReport report) {
    int most =
        report.rows().stream()
            .collect(Collectors.groupingBy(row -> Objects.requireNonNullElse(row.device(), "")))
            .values()
            .stream()
            .mapToInt(own -> NoiseClass.ofDevice(own).map(NoiseClass::sizes).orElse(0))
            .max()
            .orElse(0);
    return "no floor is kept: %d sizes >= 50 us were timed%s, and %d speak for a machine"
        .formatted(
            most,
            report.devices().size() > 1 ? " on the device that has most" : "",
            NoiseReport.LEAST_SIZES);
  }

  private static List<String> twins(NoiseTwins twins) {
    return List.of(
        String.format(
            Locale.ROOT,
            "a kernel and its twin with %.0f %% more bytes: told apart in %d of %d tries, %s",
            100 * (twins.trueRatio() - 1),
            twins.told().count(),
            twins.told().of(),
            text(twins.told())),
        String.format(
            Locale.ROOT,
            "  ratio %.4f in the median; intervals hold %.2f in %s",
            twins.median(),
            twins.trueRatio(),
            text(twins.cover())));
  }

  private void untimed(List<String> reasons, List<String> lines) {
    if (reasons.isEmpty()) return;
    lines.add("");
    lines.add("not timed:");
    reasons.stream()
        .limit(REASONS)
        .map(reason -> Text.cut("  " + Text.clean(reason), width))
        .forEach(lines::add);
    if (reasons.size() > REASONS) lines.add("  and %d more".formatted(reasons.size() - REASONS));
  }
}
