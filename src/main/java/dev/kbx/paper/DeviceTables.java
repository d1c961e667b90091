package dev.kbx.paper;

import dev.kbx.analysis.Portability;
import dev.kbx.paper.Tabular.Section;
import java.util.ArrayList;
import java.util.List;

/** Speedups of the same kernels on each device. */
final class DeviceTables {
  private DeviceTables() {}

  static List<Tabular> of(Portability portability) {
    List<List<String>> rows = new ArrayList<>();
    for (Portability.Site site : portability.devices()) {
      Portability.Mean mean = site.speedup();
      Portability.Slower slower = site.slower();
      rows.add(
          List.of(
              site.name(),
              Integer.toString(portability.entered()),
              mean == null ? Numbers.UNKNOWN : Numbers.ratio(mean.value(), mean.low(), mean.high()),
              slower == null
                  ? Numbers.UNKNOWN
                  : Numbers.percent(slower.share(), slower.low(), slower.high())));
    }
    return List.of(
        new Tabular(
            "devices",
            Section.DEVICES,
            caption(portability),
            Tabular.columns(1, List.of("device", "kernels", "speedup", "slower than 1× (%)")),
            rows));
  }

  private static String caption(Portability portability) {
    Portability.Overall overall = portability.overall();
    String spread =
        overall == null
            ? ""
            : " Largest ÷ smallest speedup of a kernel: geometric mean %s; %d of %d beyond their intervals."
                .formatted(
                    Numbers.ratio(
                        overall.mean().value(), overall.mean().low(), overall.mean().high()),
                    overall.toldApart(),
                    portability.entered());
    return "The same kernels on several devices: geometric mean of speedups against %s on the same device, with 95 %% intervals. %d of %d kernels are correct and timed on all.%s"
        .formatted(portability.baseline(), portability.entered(), portability.rows(), spread);
  }
}
