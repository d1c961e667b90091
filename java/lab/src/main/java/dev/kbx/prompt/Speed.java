package dev.kbx.prompt;

import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The times of a judgement, and what bounds the kernel, as values of templates. */
final class Speed {
  private static final int SIZES = 12;
  private static final int KERNELS = 6;

  private final Judgement judgement;
  private final boolean profile;
  private final Prompts prompts;

  /**
   * @param profile with shares of peaks, resources and Nsight Compute's figures
   */
  Speed(Judgement judgement, boolean profile, Prompts prompts) {
    this.judgement = judgement;
    this.profile = profile;
    this.prompts = prompts;
  }

  Map<String, Object> values() {
    Map<String, Object> values = new HashMap<>();
    values.put("speedup", speedup(judgement.speedup()));
    values.put(
        "sizes",
        Feedback.Excerpts.first(judgement.sizes(), SIZES).stream().map(this::size).toList());
    values.put("bound", profile ? bound(judgement, prompts) : "");
    values.putAll(resources(profile ? judgement.compile() : null));
    Profile profiled = profile ? judgement.profile() : null;
    values.put("profiled", profiled == null ? "" : Feedback.Excerpts.orEmpty(profiled.shape()));
    values.put("kernels", kernels(profiled));
    values.put("unprofiled", profiled == null ? "" : Feedback.Excerpts.orEmpty(profiled.failure()));
    return values;
  }

  /** {@code 1.20x [1.17, 1.23] against eager}; empty if unknown. */
  static String speedup(@Nullable Speedup speedup) {
    if (speedup == null) return "";
    return "%sx [%s, %s] against %s"
        .formatted(
            Numbers.text(speedup.value()),
            Numbers.text(speedup.low()),
            Numbers.text(speedup.high()),
            speedup.baseline());
  }

  /** What bounds the kernel, in words; empty if unknown. */
  static String bound(Judgement judgement, Prompts prompts) {
    return Bottleneck.of(judgement)
        .map(found -> prompts.render("bounds/title", found.flags()).strip())
        .orElse("");
  }

  private Map<String, String> size(SizeTiming size) {
    Map<String, String> values = new HashMap<>();
    values.put("shape", size.shape());
    values.put("candidate", Numbers.text(size.candidateMs()));
    values.put("reference", Numbers.text(size.referenceMs()));
    values.put("speedup", Numbers.text(size.speedup()));
    values.put("low", Numbers.text(size.low()));
    values.put("high", Numbers.text(size.high()));
    values.put("bandwidth", share(profile ? size.iou() : null));
    values.put("rate", share(profile ? size.mfu() : null));
    values.put("ideal", number(profile ? size.solMs() : null));
    Long held = size.peakBytes();
    Long reference = size.referencePeakBytes();
    if (judgement.flags().contains("large_workspace") && held != null && reference != null) {
      values.put("held", Numbers.text(held / 1e6));
      values.put("referenceHeld", Numbers.text(reference / 1e6));
    } else {
      values.put("held", "");
      values.put("referenceHeld", "");
    }
    return values;
  }

  private static Map<String, Object> resources(Verdict.@Nullable Compile compile) {
    Map<String, Object> values = new HashMap<>();
    values.put("registers", count(compile == null ? null : compile.registers()));
    values.put("shared", count(compile == null ? null : compile.sharedBytes()));
    values.put("spills", count(compile == null ? null : compile.spills()));
    values.put("resources", values.values().stream().anyMatch(value -> !value.equals("")));
    values.put("arch", compile == null ? "" : compile.arch());
    return values;
  }

  private static List<Map<String, Object>> kernels(@Nullable Profile profile) {
    return profile == null
        ? List.of()
        : Feedback.Excerpts.first(profile.kernels(), KERNELS).stream().map(Speed::kernel).toList();
  }

  private static Map<String, Object> kernel(Profile.Kernel kernel) {
    Map<String, Object> values = new HashMap<>();
    values.put("kernel", kernel.kernel());
    values.put("once", kernel.launches() == 1);
    values.put("launches", kernel.launches());
    values.put("duration", Numbers.text(kernel.durationMs()));
    values.put("achieved", percent(kernel.achievedOccupancyPct()));
    values.put("possible", percent(kernel.theoreticalOccupancyPct()));
    values.put("dram", percent(kernel.dramPct()));
    values.put("sm", percent(kernel.smPct()));
    values.put("stalled", percent(kernel.stallPct()));
    values.put("stall", Feedback.Excerpts.orEmpty(kernel.stall()));
    return values;
  }

  private static String count(@Nullable Integer value) {
    return value == null ? "" : String.valueOf(value);
  }

  private static String number(@Nullable Double value) {
    return value == null ? "" : Numbers.text(value);
  }

  private static String share(@Nullable Double value) {
    return value == null ? "" : Numbers.percent(value);
  }

  private static String percent(@Nullable Double value) {
    return value == null ? "" : Numbers.percent(value / 100);
  }

  /** What bounds a kernel at its longest size; each has an example of what helps, in a file. */
  enum Bottleneck {
    MEMORY,
    ARITHMETIC,
    LAUNCH,
    /** Too few warps are active to hide latencies. */
    OCCUPANCY;

    /** Percent of the warps of an SM below which latencies show. */
    private static final double FEW_WARPS = 30;

    /** Percent of a peak from which a resource counts as busy. */
    private static final double BUSY = 60;

    /** Values of templates: for each bound's name whether it is this one. */
    Map<String, Boolean> flags() {
      Map<String, Boolean> values = new HashMap<>();
      for (Bottleneck each : values()) values.put(each.label(), each == this);
      return values;
    }

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The template with an example of what helps. */
    String template() {
      return "bounds/" + label();
    }

    /** Empty where nothing was measured that tells. */
    static Optional<Bottleneck> of(Judgement judgement) {
      Optional<SizeTiming> longest = longest(judgement.sizes());
      if (longest.filter(Bottleneck::waitsForLaunches).isPresent()) return Optional.of(LAUNCH);
      if (spills(judgement.compile()) || hasFewWarps(judgement.profile())) {
        return Optional.of(OCCUPANCY);
      }
      return longest.flatMap(Bottleneck::nearest);
    }

    static Optional<SizeTiming> longest(@Nullable List<SizeTiming> sizes) {
      return sizes == null
          ? Optional.empty()
          : sizes.stream().max(Comparator.comparingDouble(SizeTiming::candidateMs));
    }

    private static boolean waitsForLaunches(SizeTiming size) {
      return size.bound() == Bound.LAUNCH || Boolean.TRUE.equals(size.hostBound());
    }

    private static boolean spills(Verdict.@Nullable Compile compile) {
      return compile != null && compile.spills() != null && compile.spills() > 0;
    }

    private static boolean hasFewWarps(@Nullable Profile profile) {
      if (profile == null || profile.kernels() == null || profile.kernels().isEmpty()) return false;
      Profile.Kernel kernel = profile.kernels().getFirst();
      Double warps = kernel.achievedOccupancyPct();
      return warps != null && warps < FEW_WARPS && below(kernel.dramPct()) && below(kernel.smPct());
    }

    private static boolean below(@Nullable Double percent) {
      return percent != null && percent < BUSY;
    }

    /** The resource whose peak the kernel is nearest to. */
    private static Optional<Bottleneck> nearest(SizeTiming size) {
      Double iou = size.iou();
      Double mfu = size.mfu();
      if (iou == null && mfu == null) {
        return Optional.ofNullable(size.bound())
            .map(bound -> bound == Bound.COMPUTE ? ARITHMETIC : MEMORY);
      }
      boolean memory = mfu == null || (iou != null && iou >= mfu);
      return Optional.of(memory ? MEMORY : ARITHMETIC);
    }
  }

  /** Numbers as text. */
  static final class Numbers {
    private Numbers() {}

    /** Three significant digits. */
    static String text(double value) {
      return value >= 1000 && value < 1e7
          ? String.format(Locale.ROOT, "%.0f", value)
          : String.format(Locale.ROOT, "%.3g", value);
    }

    /** A share as whole percent. */
    static String percent(double share) {
      return String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }
  }
}
