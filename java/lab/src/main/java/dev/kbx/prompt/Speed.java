package dev.kbx.prompt;

import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The times of a judgement, and what bounds the kernel, as values of templates. */
final class Speed {
  private static final int SIZES = 12;
  private static final int KERNELS = 6;

  private final Judgement judgement;
  private final boolean profile;

  /**
   * @param profile with shares of peaks, resources and Nsight Compute's figures
   */
  Speed(Judgement judgement, boolean profile) {
    this.judgement = judgement;
    this.profile = profile;
  }

  Map<String, Object> values() {
    Map<String, Object> values = new HashMap<>();
    values.put("speedup", speedup(judgement.speedup()));
    values.put("sizes", Excerpts.first(judgement.sizes(), SIZES).stream().map(this::size).toList());
    values.put("bound", profile ? bound(judgement) : "");
    values.put("resources", profile ? resources(judgement.compile()) : "");
    values.put("profiled", profile ? profiled(judgement.profile()) : "");
    values.put("kernels", profile ? kernels(judgement.profile()) : List.of());
    values.put("unprofiled", profile ? failure(judgement.profile()) : "");
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

  /** What bounds the kernel; empty if unknown. */
  static String bound(Judgement judgement) {
    return Bottleneck.of(judgement).map(Bottleneck::title).orElse("");
  }

  private Map<String, String> size(SizeTiming size) {
    return Map.of(
        "shape", size.shape(),
        "candidate", Numbers.text(size.candidateMs()),
        "reference", Numbers.text(size.referenceMs()),
        "speedup", Numbers.text(size.speedup()),
        "low", Numbers.text(size.low()),
        "high", Numbers.text(size.high()),
        "peaks", profile ? peaks(size) : "",
        "memory", memory(size));
  }

  private static String peaks(SizeTiming size) {
    return Stream.of(
            share(size.iou(), "of the peak bandwidth"),
            share(size.mfu(), "of the peak arithmetic rate"),
            Optional.ofNullable(size.solMs())
                .map(ms -> "an ideal kernel takes %s ms".formatted(Numbers.text(ms))))
        .flatMap(Optional::stream)
        .collect(Collectors.joining(", "));
  }

  private static Optional<String> share(@Nullable Double share, String of) {
    return Optional.ofNullable(share).map(value -> Numbers.percent(value) + " " + of);
  }

  /** Memory that a call held, where it was far more than the reference's. */
  private String memory(SizeTiming size) {
    Long own = size.peakBytes();
    Long reference = size.referencePeakBytes();
    if (own == null || reference == null || !judgement.flags().contains("large_workspace")) {
      return "";
    }
    return "%s MB held, by the reference %s MB"
        .formatted(Numbers.text(own / 1e6), Numbers.text(reference / 1e6));
  }

  private static String resources(Verdict.@Nullable Compile compile) {
    if (compile == null) return "";
    String figures =
        Stream.of(
                figure(compile.registers(), "%d registers a thread"),
                figure(compile.sharedBytes(), "%d bytes of shared memory a block"),
                figure(compile.spills(), "%d bytes spilled"))
            .filter(Objects::nonNull)
            .collect(Collectors.joining(", "));
    return figures.isEmpty() ? "" : "%s for %s".formatted(figures, compile.arch());
  }

  private static @Nullable String figure(@Nullable Integer value, String format) {
    return value == null ? null : format.formatted(value);
  }

  private static String profiled(@Nullable Profile profile) {
    return profile == null ? "" : Excerpts.orEmpty(profile.shape());
  }

  private static String failure(@Nullable Profile profile) {
    return profile == null ? "" : Excerpts.orEmpty(profile.failure());
  }

  private static List<String> kernels(@Nullable Profile profile) {
    return profile == null
        ? List.of()
        : Excerpts.first(profile.kernels(), KERNELS).stream().map(Speed::kernel).toList();
  }

  private static String kernel(Profile.Kernel kernel) {
    String figures =
        Stream.of(
                Optional.of("%s ms".formatted(Numbers.text(kernel.durationMs()))),
                percent(kernel.achievedOccupancyPct(), "of the warps active"),
                percent(kernel.theoreticalOccupancyPct(), "possible"),
                percent(kernel.dramPct(), "of the memory's peak"),
                percent(kernel.smPct(), "of the SMs' peak"),
                percent(kernel.stallPct(), "of the time stalled: " + kernel.stall()))
            .flatMap(Optional::stream)
            .collect(Collectors.joining(", "));
    return "`%s`, %d launched: %s".formatted(kernel.kernel(), kernel.launches(), figures);
  }

  private static Optional<String> percent(@Nullable Double value, String of) {
    return Optional.ofNullable(value).map(v -> Numbers.percent(v / 100) + " " + of);
  }
}
