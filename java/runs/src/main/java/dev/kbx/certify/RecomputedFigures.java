package dev.kbx.certify;

import dev.kbx.timing.RawRounds;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/** Computes the figures of verdicts again, from their rounds, and compares. */
final class RecomputedFigures {
  /** Relative difference of equal numbers that were computed on different processors. */
  private static final double ROUNDING = 1e-9;

  private final Consumer<String> problems;
  private int verdicts;
  private int sizes;
  private int withoutRounds;
  private int sizesWithoutRounds;
  private int compiled;
  private int otherBaselines;
  private int launched;
  private int deviceUse;
  private int sources;
  private int entries;

  RecomputedFigures(Consumer<String> problems) {
    this.problems = problems;
  }

  CheckedFigures counts() {
    return new CheckedFigures(
        verdicts,
        sizes,
        withoutRounds,
        sizesWithoutRounds,
        compiled,
        otherBaselines,
        launched,
        deviceUse,
        sources,
        entries);
  }

  void check(CertificateEntry entry) {
    Verdict verdict = entry.verdict();
    entries++;
    source(entry);
    List<SizeTiming> timed = verdict.judgement().sizes();
    if (timed == null || timed.isEmpty()) {
      if (hasSpeedup(verdict)) {
        problems.accept("%s: it has a speedup, but no timed sizes".formatted(entry.name()));
      }
      return;
    }
    launched += (int) timed.stream().filter(size -> size.launched() != null).count();
    deviceUse += (int) timed.stream().filter(RecomputedFigures::hasDeviceUse).count();
    List<RawRounds.Figures> all = sizes(entry, timed);
    sizes += all.size();
    sizesWithoutRounds += timed.size() - all.size();
    if (!all.isEmpty()) verdicts++;
    boolean isWhole = all.size() == timed.size();
    if (!isWhole) withoutRounds++;
    var baselines = new RecomputedBaselines(entry, isWhole ? all : null, this::same, problems);
    baselines.check();
    compiled += baselines.compiled();
    otherBaselines += baselines.unchecked();
  }

  private void source(CertificateEntry entry) {
    String code = entry.code();
    if (code == null) return;
    sources++;
    if (!DigestUtils.sha256Hex(code).equals(entry.verdict().provenance().candidate())) {
      problems.accept("%s: its source has another hash".formatted(entry.name()));
    }
  }

  private static boolean hasSpeedup(Verdict verdict) {
    List<Baseline> baselines = verdict.judgement().baselines();
    return verdict.judgement().speedup() != null
        || (baselines != null && baselines.stream().anyMatch(each -> each.speedup() != null));
  }

  private static boolean hasDeviceUse(SizeTiming size) {
    return Stream.of(
            size.gbs(),
            size.tflops(),
            size.iou(),
            size.mfu(),
            size.intensity(),
            size.bound(),
            size.solMs(),
            size.solScore(),
            size.clocks(),
            size.throttle(),
            size.peakBytes(),
            size.referencePeakBytes())
        .anyMatch(Objects::nonNull);
  }

  /** Compares the sizes that have rounds; returns what these give. */
  private List<RawRounds.Figures> sizes(CertificateEntry entry, List<SizeTiming> timed) {
    List<RawRounds.Figures> all = new ArrayList<>();
    for (int i = 0; i < timed.size(); i++) {
      List<List<Double>> rounds = entry.rounds().get(i);
      if (rounds.isEmpty()) continue;
      RawRounds.Figures figures = RawRounds.figures(rounds);
      size(entry, timed.get(i), figures);
      all.add(figures);
    }
    return all;
  }

  private void size(CertificateEntry entry, SizeTiming size, RawRounds.Figures figures) {
    String where = "%s, size %s".formatted(entry.name(), size.shape());
    same(where, "candidate_ms", size.candidateMs(), figures.candidateMs());
    same(where, "reference_ms", size.referenceMs(), figures.referenceMs());
    same(where, "speedup", size.speedup(), figures.speedup().value());
    same(where, "low", size.low(), figures.speedup().low());
    same(where, "high", size.high(), figures.speedup().high());
    same(where, "rounds", size.rounds(), figures.rounds());
    boolean hostBound = Objects.equals(size.hostBound(), true);
    if (hostBound != figures.hostBound()) differs(where, "host_bound", hostBound, !hostBound);
  }

  private void same(String where, String what, double stated, double computed) {
    if (Math.abs(stated - computed) <= ROUNDING * Math.abs(computed)) return;
    differs(where, what, stated, computed);
  }

  private void differs(String where, String what, Object stated, Object computed) {
    problems.accept(
        String.format(
            Locale.ROOT, "%s: %s is %s, its rounds give %s", where, what, stated, computed));
  }
}
