package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.Grades;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.Portability.Device;
import dev.kbx.analysis.Portability.Gpu;
import dev.kbx.analysis.Portability.Kernel;
import dev.kbx.analysis.Portability.LeftOut;
import dev.kbx.analysis.Portability.MaxOverMin;
import dev.kbx.analysis.Portability.Mean;
import dev.kbx.analysis.Portability.Reason;
import dev.kbx.analysis.Portability.Slower;
import dev.kbx.analysis.Portability.Timed;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
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

/** {@link Portability}: devices, the same kernels on each, and what was left out. */
public final class PortabilitySection {
  /** Listed kernels: those that differ most. */
  private static final int LISTED = 60;

  /** Hash digits that distinguish the candidates of one task. */
  private static final int HASH = 7;

  private final Portability portability;
  private final Blocks blocks = new Blocks();

  private PortabilitySection(Portability portability) {
    this.portability = portability;
  }

  public static Section of(Portability portability) {
    PortabilitySection section = new PortabilitySection(portability);
    section.devices();
    section.versions();
    if (portability.entered() > 0) {
      section.kernels();
      section.overall();
    }
    section.rows();
    section.identity();
    return section.blocks.section("devices", "Devices");
  }

  private void devices() {
    blocks.table(
        "devices",
        "The same kernels on several devices: geometric mean of speedups against %s on the same device, with 95 %% intervals. %d of %d kernels are correct and timed on all."
            .formatted(portability.baseline(), portability.entered(), portability.rows()),
        List.of(
            Column.text("", Device::label),
            Column.text("device", PortabilitySection::name),
            Column.<Device>text("UUID", PortabilitySection::uuids).optional(),
            Column.<Device>text("driver", PortabilitySection::drivers).optional(),
            Column.<Device>text("runs", device -> String.join(" ", device.runs())).optional(),
            Column.number("speedup", device -> mean(device.speedup())),
            Column.number("slower than 1×", device -> slower(device.slower()))),
        portability.devices());
  }

  private static String name(Device device) {
    int gpus = device.cards().size();
    return (gpus > 1 ? gpus + " × " : "") + device.name();
  }

  private static String uuids(Device device) {
    String first = Objects.requireNonNullElse(device.cards().getFirst().uuid(), "UUID unknown");
    return device.cards().size() == 1 ? first : first + " …";
  }

  private static @Nullable String drivers(Device device) {
    String drivers =
        device.cards().stream()
            .map(Gpu::driver)
            .filter(Objects::nonNull)
            .distinct()
            .collect(joining(", "));
    return drivers.isEmpty() ? null : drivers;
  }

  private static Cell mean(@Nullable Mean mean) {
    return mean == null ? Cell.missing() : Cell.ratio(mean.value(), mean.low(), mean.high());
  }

  private static Cell slower(@Nullable Slower slower) {
    return slower == null
        ? Cell.missing()
        : Cell.share(slower.share(), slower.low(), slower.high());
  }

  /** A note if software versions differ: then not only devices are compared. */
  private void versions() {
    List<Device> devices = portability.devices();
    Set<String> names = new TreeSet<>();
    devices.forEach(device -> names.addAll(device.versions().keySet()));
    List<String> parts = new ArrayList<>();
    for (String name : names) {
      List<Set<String>> each =
          devices.stream()
              .<Set<String>>map(device -> device.versions().getOrDefault(name, new TreeSet<>()))
              .toList();
      if (each.stream().distinct().count() < 2 && each.getFirst().size() < 2) continue;
      List<String> cells = new ArrayList<>();
      for (int i = 0; i < devices.size(); i++) {
        Set<String> own = each.get(i);
        cells.add(
            devices.get(i).label() + " " + (own.isEmpty() ? "none" : String.join(" and ", own)));
      }
      parts.add(name + " " + String.join(", ", cells));
    }
    if (!parts.isEmpty()) blocks.note("Software differs: %s.", String.join("; ", parts));
  }

  private void kernels() {
    Map<String, Integer> candidates = new HashMap<>();
    portability.kernels().forEach(kernel -> candidates.merge(task(kernel), 1, Integer::sum));
    List<Column.Of<Kernel>> columns = new ArrayList<>();
    columns.add(
        Column.text(
            "kernel",
            kernel ->
                candidates.getOrDefault(task(kernel), 0) == 1
                    ? task(kernel)
                    : task(kernel) + " " + head(kernel.candidate())));
    columns.add(Column.number("max ÷ min", kernel -> spread(kernel.maxOverMin())));
    for (int i = 0; i < portability.devices().size(); i++) {
      int index = i;
      columns.add(
          Column.number(
              portability.devices().get(i).label(), kernel -> timed(kernel.speedups().get(index))));
    }
    columns.add(Column.<Kernel>text("general", kernel -> general(kernel)).optional());
    List<Kernel> all = portability.kernels();
    boolean some = all.size() > LISTED;
    blocks.first(
        LISTED,
        "kernels",
        "Speedup on each device, with 95 % intervals. General: correct at the general grade on"
            + " all."
            + (some ? " Those that differ most first." : ""),
        columns,
        some
            ? all.stream()
                .sorted(Comparator.comparingDouble((Kernel k) -> k.maxOverMin().value()).reversed())
                .toList()
            : all);
  }

  private static @Nullable String general(Kernel kernel) {
    if (kernel.general() == null) return null;
    return kernel.general() ? "yes" : "no";
  }

  private static String task(Kernel kernel) {
    return kernel.category() + "/" + kernel.task();
  }

  private static String head(String hash) {
    return hash.substring(0, Math.min(HASH, hash.length()));
  }

  private static Cell spread(MaxOverMin spread) {
    return Cell.ratio(spread.value(), spread.low(), spread.high());
  }

  private static Cell timed(Timed timed) {
    return Cell.ratio(timed.value(), timed.low(), timed.high());
  }

  private void overall() {
    Portability.Overall overall = portability.overall();
    if (overall == null) return;
    blocks.note(
        "max ÷ min: geometric mean %s, median %s, largest %s; the interval of %d of %d leaves out"
            + " 1. Observed ones are biased upwards, as the extremes are picked; each kernel's"
            + " interval allows for that.",
        mean(overall.mean()).text(),
        Cell.ratio(overall.median()).text(),
        Cell.ratio(overall.largest()).text(),
        overall.toldApart(),
        portability.entered());
  }

  private void rows() {
    blocks.note(
        "%d of %d kernels entered: correct and timed on all %d devices.",
        portability.entered(), portability.rows(), portability.devices().size());
    if (portability.entered() > 0) {
      Grades.GeneralRate general = portability.general();
      if (general == null) {
        blocks.note("How many of them hold at the general grade is not known.");
      } else {
        blocks.note(
            "At the general grade %d of the %d hold on all devices%s.",
            general.correct(),
            portability.entered(),
            general.share() == null
                ? ""
                : ", " + Cell.share(general.share(), general.low(), general.high()).text());
      }
    }
    Map<Reason, List<LeftOut>> byReason = new EnumMap<>(Reason.class);
    for (LeftOut left : portability.leftOut()) {
      byReason.computeIfAbsent(left.reason(), _ -> new ArrayList<>()).add(left);
    }
    byReason.forEach((reason, left) ->
        blocks.note("Left out, %s: %d (%s).", words(reason), left.size(), onDevices(left)));
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
    return counts.entrySet().stream()
        .map(each -> each.getKey() + " " + each.getValue())
        .collect(joining(", "));
  }

  private void identity() {
    Map<String, List<String>> labels = new TreeMap<>();
    for (Device device : portability.devices()) {
      labels.computeIfAbsent(device.name(), _ -> new ArrayList<>()).add(device.label());
      if (device.cards().size() < 2) continue;
      blocks.note(
          "%s is %d GPUs of one name, used by one run: each kernel was timed on one of them.",
          device.label(), device.cards().size());
    }
    labels.forEach((name, same) -> {
      if (same.size() < 2) return;
      blocks.note(
          "%s have one name, %s, and different UUIDs: they count as different devices.",
          String.join(" and ", same), name);
    });
  }
}
