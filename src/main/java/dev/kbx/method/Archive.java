package dev.kbx.method;

import static java.util.Comparator.comparingInt;

import dev.kbx.method.History.Outcome;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict.Kernel;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The kernels of an island: of each niche the fastest correct one, and the last failed one. */
final class Archive {
  private final Map<Niche, Outcome> fastest = new TreeMap<>();
  private final List<Outcome> failed = new ArrayList<>();

  void add(Outcome kernel) {
    if (!Selections.isCorrect(kernel)) {
      if (kernel.code() != null) failed.add(kernel);
      return;
    }
    fastest.merge(Niche.of(kernel), kernel, (known, now) -> low(now) > low(known) ? now : known);
  }

  boolean isEmpty() {
    return fastest.isEmpty() && failed.isEmpty();
  }

  /** One kernel of each niche that has one. */
  List<Outcome> correct() {
    return List.copyOf(fastest.values());
  }

  /** The correct kernel with the highest lower bound. */
  Optional<Outcome> fastest() {
    return fastest.values().stream().max(Comparator.comparingDouble(Archive::low));
  }

  /** Correct kernels whose interval reaches that of the fastest. */
  List<Outcome> asFastAsAny() {
    double most = fastest().map(Archive::low).orElse(0.0);
    return fastest.values().stream()
        .filter(kernel -> Selections.high(kernel.judgement()) >= most)
        .toList();
  }

  /** The failed kernel that came furthest, the last of equals. */
  Outcome furthest() {
    Outcome best = failed.getFirst();
    for (Outcome kernel : failed) {
      if (Selections.byMerit().compare(kernel, best) >= 0) best = kernel;
    }
    return best;
  }

  private static double low(Outcome kernel) {
    return Selections.low(kernel.judgement());
  }

  /**
   * How a kernel is built and where it stands on the roofline: kernels of different niches do not
   * displace each other.
   *
   * @param kernels distinct kernels that it launches; 3 for more
   * @param bound what bounds the task at its largest size, empty if it was not timed
   * @param quarter of that peak that it reaches, from 0; 0 if that is not known
   */
  record Niche(int kernels, String bound, int quarter) implements Comparable<Niche> {
    private static final int MANY = 3;
    private static final int QUARTERS = 4;

    static Niche of(Outcome outcome) {
      Judgement judgement = outcome.judgement();
      if (judgement == null) return new Niche(0, "", 0);
      List<Kernel> all = judgement.kernels() == null ? List.of() : judgement.kernels();
      int kernels = (int) Math.min(MANY, all.stream().map(Kernel::kernel).distinct().count());
      List<SizeTiming> sizes = judgement.sizes();
      if (sizes == null || sizes.isEmpty()) return new Niche(kernels, "", 0);
      SizeTiming largest = sizes.getLast();
      if (largest.bound() == null) return new Niche(kernels, "", 0);
      double reached = Math.max(known(largest.iou()), known(largest.mfu()));
      int quarter = Math.min(QUARTERS - 1, (int) (reached * QUARTERS));
      return new Niche(kernels, largest.bound().label(), quarter);
    }

    private static double known(@Nullable Double part) {
      return part == null ? 0 : part;
    }

    @Override
    public int compareTo(Niche other) {
      return comparingInt(Niche::kernels)
          .thenComparing(Niche::bound)
          .thenComparingInt(Niche::quarter)
          .compare(this, other);
    }
  }
}
