package dev.kbx.prompt;

import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
