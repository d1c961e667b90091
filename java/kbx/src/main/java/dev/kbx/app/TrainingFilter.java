package dev.kbx.app;

import dev.kbx.plan.Grade;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which verdicts are examples to learn from: verified ones, of near-duplicates the fastest.
 *
 * @param grade at which a kernel has to be right; null for the one that decided
 * @param least smallest lower end of the speedup's interval; null for any, and for none
 * @param policy under which it was judged; null for any
 * @param duplicates whether kernels of one task with the same structure are all kept
 */
public record TrainingFilter(
    @Nullable Grade grade, @Nullable Double least, @Nullable String policy, boolean duplicates) {
  /** The order of reasons, the first of which counts. */
  private static final List<String> REASONS =
      List.of("not correct", "grade", "policy", "speedup", "near-duplicate");

  /** The kept verdicts in their order, and how many are left out for each reason. */
  record Kept(List<Verdict> verdicts, Map<String, Integer> leftOut) {}

  Kept of(List<Verdict> all) {
    Map<String, Integer> leftOut = new LinkedHashMap<>();
    REASONS.forEach(reason -> leftOut.put(reason, 0));
    List<Verdict> verified =
        all.stream()
            .filter(verdict -> {
              Optional<String> why = why(verdict);
              why.ifPresent(reason -> leftOut.merge(reason, 1, Integer::sum));
              return why.isEmpty();
            })
            .toList();
    if (duplicates) return new Kept(verified, leftOut);
    Map<List<String>, Verdict> best = new HashMap<>();
    for (Verdict verdict : verified) best.merge(shape(verdict), verdict, TrainingFilter::faster);
    List<Verdict> kept =
        verified.stream().filter(verdict -> verdict.equals(best.get(shape(verdict)))).toList();
    leftOut.put("near-duplicate", verified.size() - kept.size());
    return new Kept(kept, leftOut);
  }

  private Optional<String> why(Verdict verdict) {
    if (verdict.judgement().status() != Status.CORRECT) return Optional.of("not correct");
    if (!isRight(verdict)) return Optional.of("grade");
    if (policy != null && !policy.equals(verdict.judgement().policy()))
      return Optional.of("policy");
    if (least == null) return Optional.empty();
    Speedup speedup = verdict.judgement().speedup();
    return speedup == null || speedup.low() < least ? Optional.of("speedup") : Optional.empty();
  }

  private boolean isRight(Verdict verdict) {
    if (grade == null) return true;
    return switch (grade) {
      case PUBLISHED -> !Objects.equals(verdict.judgement().publishedOk(), false);
      case GENERAL -> Objects.equals(verdict.judgement().generalOk(), true);
    };
  }

  /** Equal for kernels of a task that a model would learn the same from. */
  private static List<String> shape(Verdict verdict) {
    String structure =
        verdict.judgement().features() == null
            ? verdict.provenance().candidate()
            : verdict.judgement().features().structure();
    return List.of(
        verdict.provenance().suite(),
        verdict.provenance().category(),
        verdict.provenance().task(),
        structure);
  }

  private static Verdict faster(Verdict first, Verdict next) {
    Comparator<Verdict> bySpeed =
        Comparator.comparingDouble(
            v -> v.judgement().speedup() == null ? 0 : v.judgement().speedup().low());
    return bySpeed.compare(next, first) > 0 ? next : first;
  }
}
