package dev.kbx.paper;

import dev.kbx.analysis.Portability;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Speedups of the same kernels on each device. */
final class DeviceTables {
  private DeviceTables() {}

  static List<Table> of(Portability portability) {
    return List.of(
        Table.of(
            "devices",
            caption(portability),
            List.of(
                Column.text("device", Portability.Site::name),
                Column.number("kernels", _ -> Cell.count(portability.entered())),
                Column.number("speedup", site -> mean(site.speedup())),
                Column.number("slower than 1×", site -> slower(site.slower()))),
            portability.devices()));
  }

  private static Cell mean(Portability.@Nullable Mean mean) {
    return mean == null ? Cell.missing() : Cell.ratio(mean.value(), mean.low(), mean.high());
  }

  private static Cell slower(Portability.@Nullable Slower slower) {
    return slower == null
        ? Cell.missing()
        : Cell.share(slower.share(), slower.low(), slower.high());
  }

  private static String caption(Portability portability) {
    Portability.Overall overall = portability.overall();
    String spread =
        overall == null
            ? ""
            : " Largest ÷ smallest speedup of a kernel: geometric mean %s; %d of %d beyond their intervals."
                .formatted(mean(overall.mean()).text(), overall.toldApart(), portability.entered());
    return "The same kernels on several devices: geometric mean of speedups against %s on the same device, with 95 %% intervals. %d of %d kernels are correct and timed on all.%s"
        .formatted(portability.baseline(), portability.entered(), portability.rows(), spread);
  }
}
