package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

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
}
