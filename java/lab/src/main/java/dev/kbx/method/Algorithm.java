package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.method.History.Outcome;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The methods of kbx, each with its settings in the published comparison. */
public enum Algorithm {
  SINGLE(1, 1, Choice.BEST, null, 1),
  SAMPLE(1, 1, Choice.BEST, null, 10),
  REFINE(10, 1, Choice.BEST, null, 1),
  BESTOF(1, 10, Choice.BEST, null, 1),
  GEAK(3, 4, Choice.BEST, 1.0, 1),
  /** A first kernel, and five corrections. */
  KERNELAGENT(6, 3, Choice.FIRST, 0.4, 1),
  EVOLVE(10, 3, Choice.BEST, null, 1),
  /** A program of the user's. */
  EXTERNAL(100, 1, Choice.BEST, null, 1),
  /** A program of the user's in the sandbox, which asks for judgements. */
  AGENT(20, 1, Choice.LAST, null, 1);

  private final int turns;
  private final int width;
  private final Choice answer;
  private final @Nullable Double temperature;
  private final int samples;

  Algorithm(int turns, int width, Choice answer, @Nullable Double temperature, int samples) {
    this.turns = turns;
    this.width = width;
    this.answer = answer;
    this.temperature = temperature;
    this.samples = samples;
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
    return turns;
  }

  /** Replies, descendants, workers or islands in the published comparison. */
  public int width() {
    return width;
  }

  /** Which kernel of a trajectory counts in the published comparison. */
  public Choice answer() {
    return answer;
  }

  /** Temperature in the published comparison; null for the model's default. */
  public @Nullable Double temperature() {
    return temperature;
  }

  /** Trajectories of each task in the published comparison. */
  public int samples() {
    return samples;
  }

  /** Whether it is a program of the user's. */
  public boolean isProgram() {
    return this == EXTERNAL || this == AGENT;
  }

  /** Whether kernels are judged before there is an answer. */
  public boolean judges() {
    return this != SINGLE && this != SAMPLE;
  }

  /** The method with these options. */
  public Method open(MethodOptions options) {
    return switch (this) {
      case SINGLE, SAMPLE -> new Single();
      case REFINE -> new Refine(options.turns(), options.answer());
      case BESTOF -> new BestOf(options.width());
      case GEAK -> new Geak(options.turns(), options.width(), options.asPublished());
      case KERNELAGENT ->
          new KernelAgent(
              options.width(),
              options.turns(),
              options.answer(),
              options.tuning(),
              options.asPublished());
      case EVOLVE -> new Evolve(options.width(), options.turns());
      case EXTERNAL -> new External(options.turns());
      case AGENT -> new Agent(options.turns());
    };
  }

  /**
   * One prompt, one reply, whatever is in it. Several samples are several trajectories. Nothing is
   * judged: the answer is the reply's kernel.
   */
  static final class Single implements Method {
    private static final String ONLY = "reply";

    @Override
    public Next next(Method.Assignment assignment, History history) {
      Optional<Outcome> only = history.of(ONLY);
      if (only.isPresent() && (only.get().failure() != null || only.get().extracted())) {
        return new Next.Done(Selections.last(history));
      }
      return Next.Work.ask(Asks.first(assignment, ONLY, 0));
    }

    @Override
    public int mostCalls() {
      return 1;
    }
  }

  /**
   * The same prompt several times, all replies judged, the best kernel counts: what a method that
   * learns from feedback has to beat with the same number of requests.
   *
   * @param replies number of requests
   */
  record BestOf(int replies) implements Method {
    @Override
    public Next next(Method.Assignment assignment, History history) {
      Steps steps = new Steps(history);
      for (int i = 0; i < replies; i++) {
        String id = "reply-" + i;
        int repeat = i;
        var _ = steps.kernel(id, () -> Asks.first(assignment, id, repeat));
      }
      return steps.areOpen() ? steps.work() : new Next.Done(Selections.best(history));
    }

    @Override
    public int mostCalls() {
      return replies;
    }
  }
}
