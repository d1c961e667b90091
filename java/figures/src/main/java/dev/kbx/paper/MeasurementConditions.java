package dev.kbx.paper;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Clocks;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Launched;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The devices, software and clocks of some verdicts, as these state them.
 *
 * @param devices in the order in which they appear
 * @param versions of software, by name
 * @param policies who might compute results
 * @param flags observations about candidates: how many have each
 * @param timed number of timed sizes
 * @param rounds of measuring, over all timed sizes; null without any
 * @param hostBound timed sizes for which the device waited for the host
 * @param recorded timed sizes measured as CUDA graphs
 * @param weighted timed sizes that stand for a stated part of the time
 * @param throttled timed sizes during which the device reduced its clocks
 * @param throttleReasons by the driver's names
 */
@JsonPropertyOrder({"devices", "versions", "policies", "flags", "timed", "rounds", "clocks"})
public record MeasurementConditions(
    List<Device> devices,
    Map<String, SortedSet<String>> versions,
    SortedSet<String> policies,
    Map<String, Integer> flags,
    int timed,
    @Nullable Range rounds,
    @JsonUnwrapped ClockRanges clocks,
    int hostBound,
    int recorded,
    @JsonInclude(JsonInclude.Include.NON_DEFAULT) int weighted,
    int throttled,
    SortedSet<String> throttleReasons) {

  /** What is read of a verdict's JSON: a small part of it, as a paper may rest on very many. */
  public record Stated(
      Device device,
      @Nullable Map<String, String> versions,
      @Nullable String policy,
      @Nullable List<String> flags,
      @Nullable List<Timed> sizes) {
    static Stated of(Verdict verdict) {
      List<SizeTiming> sizes = verdict.judgement().sizes();
      return new Stated(
          verdict.judgement().device(),
          verdict.judgement().versions(),
          verdict.judgement().policy(),
          verdict.judgement().flags(),
          sizes == null ? null : sizes.stream().map(Timed::of).toList());
    }
  }

  /** The measured conditions of a timed size. */
  public record Timed(
      int rounds,
      @Nullable Boolean hostBound,
      @Nullable Launched launched,
      @Nullable List<String> throttle,
      @Nullable Clocks clocks,
      @Nullable Double weight) {
    static Timed of(SizeTiming size) {
      return new Timed(
          size.rounds(),
          size.hostBound(),
          size.launched(),
          size.throttle(),
          size.clocks(),
          size.weight());
    }
  }

  /** What the device stated while sizes were timed; null if it stated nothing. */
  public record ClockRanges(
      @Nullable Range smMhz,
      @Nullable Range memoryMhz,
      @Nullable Range celsius,
      @Nullable Range watts) {}

  /** Least, median and most of some values. */
  public record Range(double least, double median, double most) {
    static @Nullable Range of(List<Double> values) {
      if (values.isEmpty()) return null;
      double[] all = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      return new Range(all[0], Median.of(all), all[all.length - 1]);
    }
  }

  /** Collects them, verdict by verdict. */
  public static final class Reader {
    private final Set<Device> devices = new LinkedHashSet<>();
    private final Map<String, SortedSet<String>> versions = new TreeMap<>();
    private final SortedSet<String> policies = new TreeSet<>();
    private final Map<String, Integer> flags = new TreeMap<>();
    private final List<Double> rounds = new ArrayList<>();
    private final Map<String, List<Double>> clocks = new LinkedHashMap<>();
    private final SortedSet<String> reasons = new TreeSet<>();
    private int hostBound;
    private int recorded;
    private int weighted;
    private int throttled;

    /** Takes the next whole verdict. */
    void add(Verdict verdict) {
      add(Stated.of(verdict));
    }

    /** Takes what the next verdict states. */
    public void add(Stated verdict) {
      devices.add(verdict.device());
      if (verdict.versions() != null) {
        verdict
            .versions()
            .forEach((name, version) ->
                versions.computeIfAbsent(name, _ -> new TreeSet<>()).add(version));
      }
      if (verdict.policy() != null) policies.add(verdict.policy());
      if (verdict.flags() != null) {
        verdict.flags().forEach(flag -> flags.merge(flag, 1, Integer::sum));
      }
      if (verdict.sizes() != null) verdict.sizes().forEach(this::add);
    }

    private void add(Timed size) {
      rounds.add((double) size.rounds());
      if (Objects.equals(size.hostBound(), true)) hostBound++;
      if (size.launched() != null) recorded++;
      if (size.weight() != null) weighted++;
      List<String> throttle = size.throttle();
      if (throttle != null && !throttle.isEmpty()) {
        throttled++;
        reasons.addAll(throttle);
      }
      Clocks of = size.clocks();
      if (of == null) return;
      clock("sm", of, Clocks::smMhz);
      clock("memory", of, Clocks::memoryMhz);
      clock("celsius", of, Clocks::celsius);
      clock("watts", of, Clocks::watts);
    }

    private void clock(String name, Clocks of, Function<Clocks, @Nullable Double> value) {
      Double known = value.apply(of);
      if (known != null) clocks.computeIfAbsent(name, _ -> new ArrayList<>()).add(known);
    }

    private @Nullable Range range(String name) {
      return Range.of(clocks.getOrDefault(name, List.of()));
    }

    public MeasurementConditions conditions() {
      return new MeasurementConditions(
          List.copyOf(devices),
          versions,
          policies,
          flags,
          rounds.size(),
          Range.of(rounds),
          new ClockRanges(range("sm"), range("memory"), range("celsius"), range("watts")),
          hostBound,
          recorded,
          weighted,
          throttled,
          reasons);
    }
  }
}
