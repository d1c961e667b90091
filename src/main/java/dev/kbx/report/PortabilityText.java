package dev.kbx.report;

import dev.kbx.analysis.GeneralRate;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.Portability.Card;
import dev.kbx.analysis.Portability.Kernel;
import dev.kbx.analysis.Portability.LeftOut;
import dev.kbx.analysis.Portability.MaxOverMin;
import dev.kbx.analysis.Portability.Mean;
import dev.kbx.analysis.Portability.Reason;
import dev.kbx.analysis.Portability.Site;
import dev.kbx.analysis.Portability.Slower;
import dev.kbx.analysis.Portability.Timed;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.stats.Rate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * {@link Portability} for a terminal.
 *
 * @param width columns of the terminal
 */
public record PortabilityText(int width) {
  /** Maximum number of listed kernels; if there are more, those that differ most. */
  private static final int LISTED = 60;

  /** Hash digits that distinguish the candidates of one task. */
  private static final int HASH = 7;

  /** The text, ending in a line break. */
  public String render(Portability portability) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "Speedup against %s on %d devices; [ ]: 95 %% intervals."
            .formatted(Text.clean(portability.baseline()), portability.devices().size()));
    lines.add("");
    devices(lines, portability.devices());
    versions(lines, portability.devices());
    lines.add("");
    if (portability.entered() > 0) {
      lines.addAll(table(portability));
      lines.addAll(new SpreadFigure(width).lines(portability.kernels()));
      lines.add("");
      overall(lines, portability);
    }
    rows(lines, portability);
    identity(lines, portability.devices());
    return String.join("\n", lines) + "\n";
  }

  private void devices(List<String> lines, List<Site> devices) {
    List<List<String>> rows = new ArrayList<>();
    for (Site site : devices) {
      rows.add(
          List.of(
              site.label(),
              (site.cards().size() > 1 ? site.cards().size() + " × " : "")
                  + Text.clean(site.name()),
              Text.clean(uuids(site)),
              Text.clean(drivers(site)),
              String.join(" ", site.runs())));
    }
    Grid full = new Grid("lllll", rows);
    if (full.fits(width)) {
      lines.addAll(full.lines(width));
      return;
    }
    for (List<String> row : rows) {
      lines.add(Text.cut(String.join("  ", row.subList(0, 3)), width));
      lines.add(Text.cut("   " + String.join("  ", row.subList(3, 5)), width));
    }
  }

  /** A line if software versions differ: then not only devices are compared. */
  private void versions(List<String> lines, List<Site> devices) {
    Set<String> names = new TreeSet<>();
    devices.forEach(site -> names.addAll(site.versions().keySet()));
    List<String> parts = new ArrayList<>();
    for (String name : names) {
      List<Set<String>> each =
          devices.stream()
              .<Set<String>>map(site -> site.versions().getOrDefault(name, new TreeSet<>()))
              .toList();
      if (each.stream().distinct().count() < 2 && each.getFirst().size() < 2) continue;
      List<String> cells = new ArrayList<>();
      for (Site site : devices) {
        Set<String> own = site.versions().getOrDefault(name, new TreeSet<>());
        cells.add(site.label() + " " + (own.isEmpty() ? "none" : String.join(" and ", own)));
      }
      parts.add(name + " " + String.join(", ", cells));
    }
    if (!parts.isEmpty()) {
      add(lines, Text.clean("Software differs: " + String.join("; ", parts) + "."));
    }
  }

  private static String uuids(Site site) {
    String first = Objects.requireNonNullElse(site.cards().getFirst().uuid(), "UUID unknown");
    return site.cards().size() == 1 ? first : first + " …";
  }

  private static String drivers(Site site) {
    List<String> drivers =
        site.cards().stream().map(Card::driver).filter(Objects::nonNull).distinct().toList();
    return drivers.isEmpty() ? "" : "driver " + String.join(", ", drivers);
  }

  private List<String> table(Portability portability) {
    String align = "l" + "r".repeat(portability.devices().size() + 1);
    Grid full = new Grid(align, cells(portability, true));
    Grid fitting = full.fits(width) ? full : new Grid(align, cells(portability, false));
    List<String> lines = new ArrayList<>(fitting.lines(width));
    int left = portability.entered() - Math.min(portability.entered(), LISTED);
    if (left > 0) {
      lines.add(
          "The %d that differ most are listed; %d more are in --json.".formatted(LISTED, left));
    }
    return lines;
  }

  private static List<List<String>> cells(Portability portability, boolean intervals) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("kernel", "max ÷ min"));
    portability.devices().forEach(site -> head.add(site.label()));
    rows.add(head);
    Map<String, Integer> candidates = new HashMap<>();
    portability.kernels().forEach(k -> candidates.merge(task(k), 1, Integer::sum));
    for (Kernel kernel : listed(portability.kernels())) {
      boolean alone = candidates.getOrDefault(task(kernel), 0) == 1;
      MaxOverMin spread = kernel.maxOverMin();
      List<String> row = new ArrayList<>();
      row.add(task(kernel) + (alone ? "" : " " + head(kernel.candidate())));
      row.add(ratio(spread.value(), spread.low(), spread.high(), intervals));
      for (Timed timed : kernel.speedups()) {
        row.add(ratio(timed.value(), timed.low(), timed.high(), intervals));
      }
      rows.add(row);
    }
    rows.add(means(portability, intervals));
    rows.add(slower(portability, intervals));
    return rows;
  }

  private static String task(Kernel kernel) {
    return Text.clean(kernel.category() + "/" + kernel.task());
  }

  private static String head(String hash) {
    return hash.substring(0, Math.min(HASH, hash.length()));
  }

  private static String ratio(double value, double low, double high, boolean interval) {
    return interval ? RateText.ratio(value, low, high) : RateText.ratio(value);
  }

  private static List<Kernel> listed(List<Kernel> kernels) {
    if (kernels.size() <= LISTED) return kernels;
    Comparator<Kernel> bySpread = Comparator.comparingDouble(k -> k.maxOverMin().value());
    return kernels.stream().sorted(bySpread.reversed()).limit(LISTED).toList();
  }

  private static List<String> means(Portability portability, boolean intervals) {
    var overall = portability.overall();
    List<String> row = new ArrayList<>();
    row.add("geometric mean");
    row.add(mean(overall == null ? null : overall.mean(), intervals));
    for (Site site : portability.devices()) row.add(mean(site.speedup(), intervals));
    return row;
  }

  private static String mean(@Nullable Mean mean, boolean interval) {
    if (mean == null) return "";
    if (mean.low() == null || mean.high() == null) return RateText.ratio(mean.value());
    return ratio(mean.value(), mean.low(), mean.high(), interval);
  }

  private static List<String> slower(Portability portability, boolean intervals) {
    List<String> row = new ArrayList<>(List.of("slower than 1×", ""));
    for (Site site : portability.devices()) {
      Slower slower = site.slower();
      if (slower == null) {
        row.add("");
        continue;
      }
      var rate = new Rate(slower.kernels(), slower.of());
      row.add(RateText.rate(rate) + (intervals ? " " + RateText.interval(rate) : ""));
    }
    return row;
  }

  private void overall(List<String> lines, Portability portability) {
    var overall = portability.overall();
    if (overall == null) return;
    add(
        lines,
        "max ÷ min: geometric mean %s, median %s, largest %s; the interval of %d of %d leaves out 1."
            .formatted(
                mean(overall.mean(), true),
                RateText.ratio(overall.median()),
                RateText.ratio(overall.largest()),
                overall.toldApart(),
                portability.entered()));
    add(
        lines,
        "Observed ones are biased upwards, as the extremes are picked; each kernel's interval"
            + " allows for that.");
  }

  private void rows(List<String> lines, Portability portability) {
    add(
        lines,
        "%d of %d kernels entered: correct and timed on all %d devices."
            .formatted(portability.entered(), portability.rows(), portability.devices().size()));
    general(lines, portability);
    Map<Reason, List<LeftOut>> byReason = new EnumMap<>(Reason.class);
    for (LeftOut left : portability.leftOut()) {
      byReason.computeIfAbsent(left.reason(), _ -> new ArrayList<>()).add(left);
    }
    byReason.forEach((reason, left) ->
        add(
            lines,
            "Left out, %s: %d (%s).".formatted(words(reason), left.size(), onDevices(left))));
  }

  private void general(List<String> lines, Portability portability) {
    if (portability.entered() == 0) return;
    GeneralRate general = portability.general();
    add(
        lines,
        general == null
            ? "How many of them hold at the general grade is not known."
            : "At the general grade %d of the %d hold on all devices%s."
                .formatted(general.correct(), portability.entered(), RateText.share(general)));
  }

  private static String words(Reason reason) {
    return switch (reason) {
      case NOT_JUDGED -> "not judged";
      case NOT_CORRECT -> "not correct";
      case NOT_TIMED -> "not timed";
      case DIFFERENT_SIZES -> "timed over other sizes";
    };
  }

  /** {@code A 3, B 1}. */
  private static String onDevices(List<LeftOut> left) {
    Map<String, Integer> counts = new TreeMap<>();
    left.forEach(one -> one.devices().forEach(label -> counts.merge(label, 1, Integer::sum)));
    List<String> parts = new ArrayList<>();
    counts.forEach((label, count) -> parts.add(label + " " + count));
    return String.join(", ", parts);
  }

  private void identity(List<String> lines, List<Site> devices) {
    Map<String, List<String>> labels = new TreeMap<>();
    for (Site site : devices) {
      labels.computeIfAbsent(site.name(), _ -> new ArrayList<>()).add(site.label());
      if (site.cards().size() < 2) continue;
      add(
          lines,
          "%s is %d cards of one name, used by one run: each kernel was timed on one of them."
              .formatted(site.label(), site.cards().size()));
    }
    labels.forEach((name, same) -> {
      if (same.size() < 2) return;
      add(
          lines,
          "%s have one name, %s, and different UUIDs: they count as different devices."
              .formatted(String.join(" and ", same), Text.clean(name)));
    });
  }

  private void add(List<String> lines, String text) {
    lines.addAll(Text.wrap(text, width, Integer.MAX_VALUE));
  }
}
