package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which kernel of a history counts. */
final class Selections {
  /** How far a kernel came, worst first. */
  private enum Reach {
    NOT_JUDGED,
    REFUSED,
    CALLED,
    RIGHT,
    CORRECT;

    static Reach of(@Nullable Judgement judgement) {
      if (judgement == null) return NOT_JUDGED;
      if (judgement.status() == Status.CORRECT) return CORRECT;
      if (Boolean.TRUE.equals(judgement.exeOk())) return RIGHT;
      return Boolean.TRUE.equals(judgement.callOk()) ? CALLED : REFUSED;
    }
  }

  /** Worst first; of equals, none is preferred. */
  private static final Comparator<Outcome> BY_MERIT =
      Comparator.<Outcome, Reach>comparing(outcome -> Reach.of(outcome.judgement()))
          .thenComparingDouble(outcome -> low(outcome.judgement()));

  private Selections() {}

  /**
   * The best: of the correct kernels the one whose speedup has the highest lower bound, the first
   * of equals. Without a correct one, the kernel that came furthest, the last of equals.
   */
  static Answer best(History history) {
    List<Outcome> kernels = kernels(history);
    if (kernels.isEmpty()) return Answer.none(nothing(history));
    Outcome best = kernels.getFirst();
    for (Outcome kernel : kernels) {
      int order = BY_MERIT.compare(kernel, best);
      if (order > 0 || (order == 0 && !isCorrect(kernel))) best = kernel;
    }
    return new Answer(best.ask(), best.code(), isCorrect(best) ? measured(best) : "furthest");
  }

  /**
   * The correct kernel with the highest measured speedup, whatever its interval is, the first of
   * equals; without a correct one, the one that came furthest.
   */
  static Answer fastest(History history) {
    return kernels(history).stream()
        .filter(Selections::isCorrect)
        .reduce((one, other) -> value(other.judgement()) > value(one.judgement()) ? other : one)
        .map(kernel -> new Answer(kernel.ask(), kernel.code(), "highest measured speedup"))
        .orElseGet(() -> best(history));
  }

  /** The last kernel. */
  static Answer last(History history) {
    List<Outcome> kernels = kernels(history);
    if (kernels.isEmpty()) return Answer.none(nothing(history));
    return new Answer(kernels.getLast().ask(), kernels.getLast().code(), "last");
  }

  /** The first that was found to be correct; without one, the one that came furthest. */
  static Answer first(History history) {
    return history.judged().stream()
        .filter(Selections::isCorrect)
        .findFirst()
        .map(kernel -> new Answer(kernel.ask(), kernel.code(), "first correct"))
        .orElseGet(() -> best(history));
  }

  static List<Outcome> kernels(History history) {
    return history.all().stream().filter(outcome -> outcome.code() != null).toList();
  }

  static boolean isCorrect(Outcome outcome) {
    return Reach.of(outcome.judgement()) == Reach.CORRECT;
  }

  /** Worst first, by how far kernels came and then by the lower bound of their speedup. */
  static Comparator<Outcome> byMerit() {
    return BY_MERIT;
  }

  /** The lower bound of a kernel's speedup; 0 if it was not timed. */
  static double low(@Nullable Judgement judgement) {
    Speedup speedup = judgement == null ? null : judgement.speedup();
    return speedup == null ? 0 : speedup.low();
  }

  /** A kernel's measured speedup; 0 if it was not timed. */
  static double value(@Nullable Judgement judgement) {
    Speedup speedup = judgement == null ? null : judgement.speedup();
    return speedup == null ? 0 : speedup.value();
  }

  /** The upper bound of a kernel's speedup; 0 if it was not timed. */
  static double high(@Nullable Judgement judgement) {
    Speedup speedup = judgement == null ? null : judgement.speedup();
    return speedup == null ? 0 : speedup.high();
  }

  private static String measured(Outcome best) {
    double low = low(best.judgement());
    return low == 0 ? "first correct" : "best lower bound of the speedup, %.3f".formatted(low);
  }

  private static String nothing(History history) {
    return history.all().stream().anyMatch(o -> o.text() != null)
        ? "no reply has code"
        : "no reply";
  }
}
