package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The methods of kbx, each with its settings in the published comparison. */
public enum Algorithm {
  SINGLE(new Published(1, 1, Choice.BEST, null, 1), _ -> new Single()),
  SAMPLE(new Published(1, 1, Choice.BEST, null, 10), _ -> new Single()),
  REFINE(
      new Published(10, 1, Choice.BEST, null, 1),
      o -> new Refine(o.turns(), Choice.of(o.answer()))),
  BESTOF(new Published(1, 10, Choice.BEST, null, 1), o -> new BestOf(o.width())),
  GEAK(
      new Published(3, 4, Choice.BEST, 1.0, 1),
      o -> new Geak(o.turns(), o.width(), o.asPublished())),
  /** A first kernel, and five corrections. */
  KERNELAGENT(
      new Published(6, 3, Choice.FIRST, 0.4, 1),
      o ->
          new KernelAgent(
              o.width(), o.turns(), Choice.of(o.answer()), o.tuning(), o.asPublished())),
  EVOLVE(new Published(10, 3, Choice.BEST, null, 1), o -> new Evolve(o.width(), o.turns())),
  /** A program of the user's. */
  EXTERNAL(new Published(100, 1, Choice.BEST, null, 1), o -> new External(o.turns()));

  /**
   * Settings in the published comparison.
   *
   * @param turns or rounds
   * @param width replies, descendants, workers or islands
   * @param temperature null for the model's default
   * @param samples trajectories of a task
   */
  private record Published(
      int turns, int width, Choice answer, @Nullable Double temperature, int samples) {}

  private final Published published;
  private final Function<MethodOptions, Method> open;

  Algorithm(Published published, Function<MethodOptions, Method> open) {
    this.published = published;
    this.open = open;
  }

  /** The name used in options, ledgers and conditions. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The one of that label. */
  public static Optional<Algorithm> of(String label) {
    return Arrays.stream(values()).filter(each -> each.label().equals(label)).findFirst();
  }

  @JsonCreator
  static Algorithm read(String label) {
    return of(label).orElseThrow(() -> new IllegalArgumentException("no method " + label));
  }

  /** Turns or rounds in the published comparison. */
  public int turns() {
    return published.turns();
  }

  /** Replies, descendants, workers or islands in the published comparison. */
  public int width() {
    return published.width();
  }

  /** Which kernel of a trajectory counts in the published comparison. */
  public String answer() {
    return published.answer().label();
  }

  /** Temperature in the published comparison; null for the model's default. */
  public @Nullable Double temperature() {
    return published.temperature();
  }

  /** Trajectories of each task in the published comparison. */
  public int samples() {
    return published.samples();
  }

  /** Whether kernels are judged before there is an answer. */
  public boolean judges() {
    return this != SINGLE && this != SAMPLE;
  }

  /** The method with these options. */
  Method open(MethodOptions options) {
    return open.apply(options);
  }
}
