package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which method, and the numbers that it takes.
 *
 * @param method its label
 * @param turns of refine; rounds of geak, kernelagent and evolve
 * @param tuning rounds of kernelagent's second stage
 * @param width replies of bestof; descendants of geak, workers of kernelagent, islands of evolve
 * @param answer which kernel of a trajectory counts: {@code best}, {@code last} or {@code first}
 * @param asPublished whether known defects of the published method are kept
 * @param program the command of external; null for others
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MethodOptions(
    String method,
    int turns,
    int width,
    int tuning,
    String answer,
    boolean asPublished,
    @Nullable String program) {
  /** The label of programs of the user's. */
  public static final String EXTERNAL = "external";

  /** Options of a method of kbx. */
  public MethodOptions(
      String method, int turns, int width, int tuning, String answer, boolean asPublished) {
    this(method, turns, width, tuning, answer, asPublished, null);
  }

  /** The labels of all methods. */
  public static List<String> labels() {
    return List.of(
        "single", "sample", "refine", "bestof", "geak", "kernelagent", "evolve", EXTERNAL);
  }

  /** Turns or rounds in the published comparison. */
  public static int publishedTurns(String label) {
    return switch (label) {
      case "refine" -> 10;
      case "geak" -> 3;
      case "kernelagent" -> 6; // A first kernel, and five corrections.
      case "evolve" -> 10;
      case EXTERNAL -> 100;
      default -> 1;
    };
  }

  /** Descendants or workers in the published comparison. */
  public static int publishedWidth(String label) {
    return switch (label) {
      case "geak" -> 4;
      case "kernelagent", "evolve" -> 3;
      case "bestof" -> 10;
      default -> 1;
    };
  }

  /** The answer in the published comparison. */
  public static String publishedAnswer(String label) {
    return label.equals("kernelagent") ? "first" : "best";
  }

  /** Temperature in the published comparison; null for the model's default. */
  public static @Nullable Double publishedTemperature(String label) {
    return switch (label) {
      case "geak" -> 1.0;
      case "kernelagent" -> 0.4;
      default -> null;
    };
  }

  /** Whether kernels are judged before there is an answer. */
  public boolean judges() {
    return !method.equals("single") && !method.equals("sample");
  }

  /**
   * The method.
   *
   * @throws IllegalArgumentException if there is none of this label
   */
  public Method open() {
    return switch (method) {
      case "single", "sample" -> new Single();
      case "refine" -> new Refine(turns, Choice.of(answer));
      case "bestof" -> new BestOf(width);
      case "geak" -> new Geak(turns, width, asPublished);
      case "kernelagent" -> new KernelAgent(width, turns, Choice.of(answer), tuning, asPublished);
      case "evolve" -> new Evolve(width, turns);
      case EXTERNAL -> new External(turns);
      default -> throw new IllegalArgumentException("no method " + method);
    };
  }
}
