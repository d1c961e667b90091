package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.analysis.Portability.Gpu;
import dev.kbx.stats.Median;
import dev.kbx.stats.Rate;
import dev.kbx.stats.Ratio;
import dev.kbx.stats.Spread;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How speedups of the same kernels differ between devices. A kernel is one source for one task of
 * one suite. Only kernels that are correct and timed on the same sizes on all devices count.
 *
 * <p>Each speedup is against the baseline on the same device, so a faster device alone changes
 * nothing.
 *
 * @param kind {@code portability}: the kind of this JSON document
 * @param baseline the baseline of every speedup
 * @param rows number of kernels in any of the runs
 * @param entered number of kernels that count
 * @param general how many of these are correct at the general grade on all devices; null if that of
 *     one is not known
 * @param overall null if no kernel counts
 * @param kernels the kernels that count, by category and task
 * @param leftOut the others, each with the first reason that applies
 */
public record Portability(
    String kind,
    String baseline,
    List<Device> devices,
    int rows,
    int entered,
    Grades.@Nullable GeneralRate general,
    @Nullable Overall overall,
    List<Kernel> kernels,
    List<LeftOut> leftOut) {

  /**
   * One device: a name and a UUID. GPUs of one model that one run used count as one device, as each
   * kernel is timed on one of them; no interval includes their differences.
   *
   * @param label {@code A, B, …}
   * @param runs ids of the runs on it, as given
   * @param versions software versions of these runs, by name; several if runs differ
   * @param speedup mean over the kernels that count; null if there are none
   * @param slower kernels that are slower than the baseline; null as above
   */
  public record Device(
      String label,
      String name,
      List<Gpu> cards,
      List<String> runs,
      SortedMap<String, SortedSet<String>> versions,
      @Nullable Mean speedup,
      @Nullable Slower slower) {}

  /** One GPU. */
  public record Gpu(@Nullable String uuid, @Nullable String driver) {}

  /** Geometric mean over kernels; its bootstrap interval is null for a single kernel. */
  public record Mean(double value, @Nullable Double low, @Nullable Double high) {
    static Mean of(double[] values) {
      if (values.length < 2) return new Mean(values[0], null, null);
      Ratio ratio = Ratio.ofTasks(values);
      return new Mean(ratio.value(), ratio.low(), ratio.high());
    }
  }

  /** Share of kernels slower than the baseline, 0 to 1, with Wilson's 95 % interval. */
  public record Slower(long kernels, long of, double share, double low, double high) {}

  /**
   * Largest ÷ smallest speedup, over all kernels that count.
   *
   * @param mean geometric mean of the observed ratios, which are biased upwards; see {@link Spread}
   * @param toldApart kernels whose interval excludes 1
   */
  public record Overall(Mean mean, double median, double largest, long toldApart) {}

  /**
   * One kernel; speedups in the order of the devices. {@code general}: whether it is correct at the
   * general grade on all of them; null if not known.
   */
  public record Kernel(
      String candidate,
      String source,
      String suite,
      String category,
      String task,
      @Nullable Boolean general,
      List<Timed> speedups,
      MaxOverMin maxOverMin) {}

  /** A kernel's speedup on one device, with its 95 % interval and its run. */
  public record Timed(String device, String run, double value, double low, double high) {}

  /** {@link Spread} with the labels of the devices. */
  public record MaxOverMin(double value, double low, double high, String slowest, String fastest) {}

  /** A kernel that does not count: why, and because of which devices. */
  public record LeftOut(
      String candidate,
      String source,
      String suite,
      String category,
      String task,
      Reason reason,
      List<String> devices) {}

  /** Why a kernel does not count. */
  public enum Reason {
    /** No verdict: not submitted there, interrupted, or kbx or the task failed. */
    NOT_JUDGED,
    NOT_CORRECT,
    NOT_TIMED,
    /** Timed on other sizes than on the first device. */
    DIFFERENT_SIZES;

    /** The name in files: {@code not_judged, …}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Whether to compare runs by device instead of one after the other: all have speedups, and no
   * device is common to all. Statuses can be compared across devices.
   */
  public static boolean isFor(List<JudgedRun> runs) {
    long ids = runs.stream().map(run -> run.run().id()).distinct().count();
    return runs.stream().allMatch(run -> run.hasSpeedup() && run.run().published() == null)
        && Measured.devices(runs).stream().allMatch(device -> device.runs().size() < ids);
  }

  /**
   * Compares the runs by device. Of two verdicts on one kernel and device, the later run's counts.
   *
   * @throws IncomparableRuns if a run has no timings, baselines differ, or there is only one device
   */
  public static Portability of(List<JudgedRun> runs) {
    for (JudgedRun run : runs) {
      if (run.run().published() != null) {
        throw new IncomparableRuns(
            "run %s is as published: its speedups have neither sizes nor intervals; portability needs runs that kbx judged"
                .formatted(run.run().id()));
      }
      if (run.hasSpeedup()) continue;
      throw new IncomparableRuns(
          "run %s: %s; portability needs timed runs".formatted(run.run().id(), run.noSpeedup()));
    }
    String baseline = baseline(runs);
    Measured measured = Measured.of(runs);
    if (measured.devices().size() < 2) {
      throw new IncomparableRuns(
          "all runs are on one device, %s; name runs on two, or use 'kbx compare'"
              .formatted(measured.devices().getFirst()));
    }
    List<Kernel> kernels = new ArrayList<>();
    List<LeftOut> leftOut = new ArrayList<>();
    for (Measured.Row row : measured.rows()) enter(row, measured.devices(), kernels, leftOut);
    List<Device> devices = new ArrayList<>();
    for (int i = 0; i < measured.devices().size(); i++) {
      devices.add(device(measured.devices().get(i), i, kernels, runs));
    }
    return new Portability(
        "portability",
        baseline,
        devices,
        measured.rows().size(),
        kernels.size(),
        kernels.isEmpty() ? null : general(kernels),
        kernels.isEmpty() ? null : overall(kernels),
        List.copyOf(kernels),
        List.copyOf(leftOut));
  }

  private static String baseline(List<JudgedRun> runs) {
    Set<String> all = new TreeSet<>();
    List<String> said = new ArrayList<>();
    for (JudgedRun run : runs) {
      Set<String> own = new TreeSet<>();
      for (VerdictRow verdict : run.rows()) {
        String against = verdict.against();
        if (against != null) own.add(against);
      }
      all.addAll(own);
      said.add("%s against %s".formatted(run.run().id(), String.join(" and ", own)));
    }
    if (all.size() == 1) return all.iterator().next();
    throw new IncomparableRuns(
        "speedups are against different baselines (%s); judge again against one"
            .formatted(String.join(", ", said)));
  }

  /** Adds the row to one of the two lists. */
  private static void enter(
      Measured.Row row,
      List<Measured.DeviceRuns> devices,
      List<Kernel> kernels,
      List<LeftOut> leftOut) {
    for (Reason reason : Reason.values()) {
      List<String> held = new ArrayList<>();
      for (int i = 0; i < devices.size(); i++) {
        if (holds(reason, row, i)) held.add(label(i));
      }
      if (held.isEmpty()) continue;
      VerdictRow v = row.any();
      leftOut.add(
          new LeftOut(v.candidate(), v.source(), v.suite(), v.category(), v.task(), reason, held));
      return;
    }
    kernels.add(kernel(row));
  }

  private static boolean holds(Reason reason, Measured.Row row, int device) {
    VerdictRow verdict = row.verdicts().get(device);
    if (verdict == null) return reason == Reason.NOT_JUDGED;
    return switch (reason) {
      case NOT_JUDGED -> !verdict.judged();
      case NOT_CORRECT -> !verdict.correct();
      case NOT_TIMED -> verdict.correctSpeedup() == null;
      case DIFFERENT_SIZES -> !row.any().hasSizesOf(verdict);
    };
  }

  private static Kernel kernel(Measured.Row row) {
    List<Timed> timed = new ArrayList<>();
    List<Ratio> ratios = new ArrayList<>();
    for (VerdictRow verdict : row.verdicts()) {
      if (verdict == null) continue;
      Ratio ratio = verdict.correctSpeedup();
      if (ratio == null) continue;
      timed.add(
          new Timed(label(timed.size()), verdict.run(), ratio.value(), ratio.low(), ratio.high()));
      ratios.add(ratio);
    }
    Spread spread = Spread.of(ratios);
    VerdictRow any = row.any();
    return new Kernel(
        any.candidate(),
        any.source(),
        any.suite(),
        any.category(),
        any.task(),
        row.general(),
        timed,
        new MaxOverMin(
            spread.value(),
            spread.low(),
            spread.high(),
            label(spread.smallest()),
            label(spread.largest())));
  }

  private static Grades.@Nullable GeneralRate general(List<Kernel> kernels) {
    return Grades.GeneralRate.of(
        kernels.stream().<@Nullable Boolean>map(Kernel::general).toList(), kernels.size());
  }

  private static Device device(
      Measured.DeviceRuns device, int index, List<Kernel> kernels, List<JudgedRun> runs) {
    double[] values = kernels.stream().mapToDouble(k -> k.speedups().get(index).value()).toArray();
    Mean mean = values.length == 0 ? null : Mean.of(values);
    Slower slower = null;
    if (values.length > 0) {
      long count = Arrays.stream(values).filter(v -> v < 1).count();
      var rate = new Rate(count, values.length);
      slower = new Slower(count, values.length, rate.value(), rate.low(), rate.high());
    }
    return new Device(
        label(index),
        device.name(),
        List.copyOf(device.cards().values()),
        List.copyOf(device.runs()),
        versions(device, runs),
        mean,
        slower);
  }

  private static SortedMap<String, SortedSet<String>> versions(
      Measured.DeviceRuns device, List<JudgedRun> runs) {
    SortedMap<String, SortedSet<String>> versions = new TreeMap<>();
    for (JudgedRun run : runs) {
      if (!device.runs().contains(run.run().id())) continue;
      run.run()
          .versions()
          .forEach(
              (name, version) -> versions.computeIfAbsent(name, _ -> new TreeSet<>()).add(version));
    }
    return versions;
  }

  private static Overall overall(List<Kernel> kernels) {
    double[] values = kernels.stream().mapToDouble(k -> k.maxOverMin().value()).toArray();
    return new Overall(
        Mean.of(values),
        Median.of(values),
        kernels.stream()
            .map(Kernel::maxOverMin)
            .max(Comparator.comparingDouble(MaxOverMin::value))
            .orElseThrow()
            .value(),
        kernels.stream().filter(k -> k.maxOverMin().low() > 1).count());
  }

  /** {@code A … Z}, then {@code A1 … Z1}, and so on. */
  private static String label(int index) {
    String letter = Character.toString('A' + index % 26);
    return index < 26 ? letter : letter + index / 26;
  }

  /** The verdicts of several runs as a matrix of kernels and devices. */
  record Measured(List<DeviceRuns> devices, List<Row> rows) {

    /**
     * A device on which candidates were timed: one GPU, or the GPUs of one model that a run used.
     *
     * @param cards by UUID
     * @param runs ids of the runs on it
     */
    record DeviceRuns(String name, SortedMap<String, Gpu> cards, Set<String> runs) {
      boolean has(Verdict.Device device) {
        return name.equals(device.name()) && cards.containsKey(uuid(device));
      }

      @Override
      public String toString() {
        return (name + " " + String.join(" ", cards.keySet())).stripTrailing();
      }
    }

    /** Empty if the device has none. */
    private static String uuid(Verdict.Device device) {
      return Objects.requireNonNullElse(device.uuid(), "");
    }

    /** One kernel: its verdict on each device, null if there is none. */
    record Row(List<@Nullable VerdictRow> verdicts) {
      /** Whether all its verdicts are correct at the general grade; null if that is not known. */
      @Nullable Boolean general() {
        boolean known = true;
        for (VerdictRow verdict : verdicts) {
          Boolean general = verdict == null ? null : verdict.general();
          if (Objects.equals(general, false)) return general;
          known &= general != null;
        }
        return known ? Boolean.TRUE : null;
      }

      /** The first verdict. */
      VerdictRow any() {
        return verdicts.stream().filter(Objects::nonNull).findFirst().orElseThrow();
      }
    }

    /** Identity of a kernel, in the order of tables. */
    private record Key(String category, String task, String suite, String candidate)
        implements Comparable<Key> {
      private static final Comparator<Key> ORDER =
          Comparator.comparing(Key::category)
              .thenComparing(Key::task)
              .thenComparing(Key::suite)
              .thenComparing(Key::candidate);

      static Key of(VerdictRow v) {
        return new Key(v.category(), v.task(), v.suite(), v.candidate());
      }

      @Override
      public int compareTo(Key other) {
        return ORDER.compare(this, other);
      }
    }

    /** Devices in the order in which the runs were given. */
    static Measured of(List<JudgedRun> runs) {
      List<DeviceRuns> devices = devices(runs);
      Map<Key, @Nullable VerdictRow[]> rows = new TreeMap<>();
      List<JudgedRun> oldestFirst =
          runs.stream().sorted(Comparator.comparing(r -> r.run().started())).toList();
      for (JudgedRun run : oldestFirst) {
        for (VerdictRow verdict : run.rows()) {
          @Nullable VerdictRow[] row =
              rows.computeIfAbsent(Key.of(verdict), _ -> new VerdictRow[devices.size()]);
          for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).has(verdict.device())) row[i] = later(row[i], verdict);
          }
        }
      }
      return new Measured(
          devices,
          rows.values().stream()
              .filter(row -> Arrays.stream(row).anyMatch(Objects::nonNull))
              .map(row -> new Row(Arrays.asList(row)))
              .toList());
    }

    /** A verdict that blames the task or kbx does not replace one on the candidate. */
    private static VerdictRow later(@Nullable VerdictRow before, VerdictRow now) {
      return before != null && before.judged() && !now.judged() ? before : now;
    }

    /** Devices in the order in which the runs were given. */
    static List<DeviceRuns> devices(List<JudgedRun> runs) {
      List<DeviceRuns> devices = new ArrayList<>();
      for (JudgedRun run : runs) {
        Map<String, DeviceRuns> own = new LinkedHashMap<>();
        for (VerdictRow verdict : run.rows()) {
          if (verdict.speedup() == null) continue;
          Verdict.Device on = verdict.device();
          own.computeIfAbsent(
                  on.name(),
                  name ->
                      new DeviceRuns(
                          name, new TreeMap<>(), new LinkedHashSet<>(Set.of(run.run().id()))))
              .cards()
              .put(uuid(on), new Gpu(on.uuid(), on.driver()));
        }
        own.values().forEach(device -> add(devices, device));
      }
      return List.copyOf(devices);
    }

    /** Adds a device; merges it with the first device that shares a GPU. */
    private static void add(List<DeviceRuns> devices, DeviceRuns device) {
      List<DeviceRuns> same =
          devices.stream()
              .filter(other -> other.name().equals(device.name()))
              .filter(
                  other -> !Collections.disjoint(other.cards().keySet(), device.cards().keySet()))
              .toList();
      if (same.isEmpty()) {
        devices.add(device);
        return;
      }
      DeviceRuns whole = same.getFirst();
      same.stream().skip(1).forEach(other -> absorb(whole, other));
      absorb(whole, device);
      devices.removeAll(same.subList(1, same.size()));
    }

    private static void absorb(DeviceRuns whole, DeviceRuns part) {
      whole.cards().putAll(part.cards());
      whole.runs().addAll(part.runs());
    }
  }
}
