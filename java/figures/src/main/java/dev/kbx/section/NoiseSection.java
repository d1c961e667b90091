package dev.kbx.section;

import dev.kbx.analysis.NoiseReport;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** {@link NoiseReport}: references timed against themselves, floors, and what was not timed. */
public final class NoiseSection {
  private static final int REASONS = 10;

  private NoiseSection() {}

  public static Section of(NoiseReport report) {
    Blocks blocks = new Blocks();
    for (Verdict.Device device : report.devices()) blocks.note(title(device));
    blocks.note("Measured %s.", report.measured());
    classes(blocks, report.classes());
    boolean several = report.devices().size() > 1;
    for (NoiseFloor floor : report.floors()) blocks.note(floor(floor, several));
    int without = report.devices().size() - report.floors().size();
    if (report.missing() != null) {
      blocks.note(
          "Cut off before %s candidates were judged: no floor is kept.",
          Cell.count(report.missing()).text());
    } else if (report.floors().isEmpty() && !report.rows().isEmpty()) {
      blocks.note(tooFew(report));
    } else if (without > 0 && !report.rows().isEmpty()) {
      blocks.note(
          "No floor is kept of %s that timed fewer than %d sizes ≥ 50 µs; --repeats gives each"
              + " more.",
          Counted.of(without, "other device"), NoiseReport.LEAST_SIZES);
    }
    if (report.twins() != null) twins(blocks, report.twins());
    List<String> untimed = report.untimed();
    for (String reason : Blocks.first(REASONS, untimed)) blocks.note("Not timed: " + reason);
    if (untimed.size() > REASONS) blocks.note("… and %d more.", untimed.size() - REASONS);
    return blocks.section("noise", "Noise");
  }

  private static String title(Verdict.Device device) {
    return device.name()
        + (device.driver() == null ? "" : ", driver " + device.driver())
        + (device.uuid() == null ? "" : ", " + device.uuid());
  }

  private static void classes(Blocks blocks, List<NoiseReport.SizeClass> classes) {
    blocks.table(
        "noise",
        "References against themselves: percentiles of |log speedup|, sizes within 1 %, intervals"
            + " that hold 1, and their half width.",
        List.of(
            Column.text("a call", NoiseReport.SizeClass::name),
            Column.number("sizes", each -> Cell.count(each.sizes())),
            Column.<NoiseReport.SizeClass>number("rows", each -> Cell.count(each.rows()))
                .optional(),
            Column.number("p50", each -> Cell.fine(each.median(), false)),
            Column.<NoiseReport.SizeClass>number("p90", each -> Cell.fine(each.p90(), false))
                .optional(),
            Column.number("p95", each -> Cell.fine(each.p95(), false)),
            Column.<NoiseReport.SizeClass>number("max", each -> Cell.fine(each.largest(), false))
                .optional(),
            Column.number("within 1 %", each -> share(each.withinOnePercent())),
            Column.number("hold 1", each -> share(each.cover())),
            Column.<NoiseReport.SizeClass>number("half", each -> Cell.fine(each.halfWidth(), false))
                .optional(),
            Column.<NoiseReport.SizeClass>number("rounds", each -> Cell.statistic(each.rounds()))
                .optional()),
        classes);
  }

  private static Cell share(NoiseReport.Share share) {
    return Cell.share(share.share(), share.low(), share.high());
  }

  /**
   * @param several whether there are more devices than this
   */
  private static String floor(NoiseFloor floor, boolean several) {
    return "Differences below %s cannot be resolved on %s at sizes ≥ %s that are not host-bound (95th percentile of |log speedup|, %d rows of %d sizes)."
        .formatted(
            Cell.fine(floor.relative(), false).text(),
            several ? String.valueOf(floor.device().uuid()) : "this machine",
            Cell.seconds(floor.fromMs() / 1000).text(),
            floor.rows(),
            floor.sizes());
  }

  private static String tooFew(NoiseReport report) {
    int most =
        report.rows().stream()
            .collect(Collectors.groupingBy(row -> Objects.requireNonNullElse(row.device(), "")))
            .values()
            .stream()
            .mapToInt(own ->
                NoiseReport.SizeClass.ofDevice(own).map(NoiseReport.SizeClass::sizes).orElse(0))
            .max()
            .orElse(0);
    return "No floor is kept: %d sizes ≥ 50 µs were timed%s, and %d speak for a machine."
        .formatted(
            most,
            report.devices().size() > 1 ? " on the device that has most" : "",
            NoiseReport.LEAST_SIZES);
  }

  private static void twins(Blocks blocks, NoiseReport.Twins twins) {
    blocks.note(
        "A kernel and its twin with %s more bytes: told apart in %d of %d tries, %s. Ratio %s in"
            + " the median; intervals hold %s in %s.",
        Cell.share(twins.trueRatio() - 1).text(),
        twins.told().count(),
        twins.told().of(),
        share(twins.told()).text(),
        Cell.fine(twins.median(), true).text(),
        Cell.ratio(twins.trueRatio()).text(),
        share(twins.cover()).text());
  }
}
