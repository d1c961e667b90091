package dev.kbx.analysis;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The same kernels judged under several environments: versions of Triton, PyTorch or Python. A
 * kernel is one source for one task of one suite. What changed is told against the first
 * environment, at the first one after it where the kernel is not as it was there.
 *
 * @param kind {@code matrix}: the kind of this JSON document
 * @param environments in the order given
 * @param timed whether any kernel has a speedup
 * @param kernels by category and task
 * @param changes of kernels, in their order; several for one kernel
 */
public record EnvironmentMatrix(
    String kind,
    List<Environment> environments,
    boolean timed,
    List<Kernel> kernels,
    List<Change> changes) {
  /** What can tell environments apart, most telling first. */
  private static final List<String> TELLING = List.of("triton", "torch", "python");

  /**
   * One environment.
   *
   * @param label what distinguishes it: {@code triton 3.6.0}
   * @param runs that judged in it; several after a bisection
   * @param versions of the software, by name
   * @param judged kernels with a verdict about them
   * @param correct of these
   */
  public record Environment(
      String label, List<String> runs, Map<String, String> versions, int judged, int correct) {}

  /**
   * A kernel.
   *
   * @param results one for each environment; null where it was not judged
   * @param differs label of the first environment in which it is not as in the first of all; null
   *     if it is the same in all
   */
  public record Kernel(
      String candidate,
      String source,
      String suite,
      String category,
      String task,
      List<@Nullable Result> results,
      @Nullable String differs) {
    /** Category and task. */
    public String path() {
      return category + "/" + task;
    }
  }

  /**
   * A kernel in one environment.
   *
   * @param speedup with its 95 % interval; null if it was not timed
   */
  public record Result(
      Status status,
      @Nullable Timed speedup,
      List<String> holds,
      List<String> breaks,
      @Nullable String message) {}

  /** A speedup against the baseline in the same environment, with its 95 % interval. */
  public record Timed(double value, double low, double high) {}

  /** What became of a kernel. */
  public enum Kind {
    /** It was correct. */
    REGRESSED,
    /** It is correct now. */
    MENDED,
    /** It fails otherwise than before. */
    FAILS_OTHERWISE,
    /** It breaks on a property that it had. */
    BREAKS,
    /** It has a property that it broke on. */
    HOLDS,
    SLOWER,
    FASTER;

    /** The name in files and pages. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it is for the worse. */
    public boolean worse() {
      return this == REGRESSED || this == BREAKS || this == SLOWER;
    }
  }

  /**
   * One change of a kernel.
   *
   * @param between the last judged environment before the change, where it still is as in the first
   * @param since the environment of the change
   * @param detail statuses, the property, or the ratio of speedups
   * @param message of the verdict, where the status changed
   */
  public record Change(
      String candidate,
      String source,
      String category,
      String task,
      Kind kind,
      String between,
      String since,
      String detail,
      @Nullable String message) {}

  /** What makes a kernel the same one in several runs. */
  public record Identity(String category, String task, String suite, String candidate)
      implements Comparable<Identity> {
    private static final Comparator<Identity> ORDER =
        Comparator.comparing(Identity::category)
            .thenComparing(Identity::task)
            .thenComparing(Identity::suite)
            .thenComparing(Identity::candidate);

    public static Identity of(VerdictRow row) {
      return new Identity(row.category(), row.task(), row.suite(), row.candidate());
    }

    @Override
    public int compareTo(Identity other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * The runs side by side.
   *
   * @param all the runs of each environment, which have the same versions; one without runs, which
   *     a bisection has passed over, is left out
   * @param messages says what the verdict of a row says; null if nothing
   */
  public static EnvironmentMatrix of(
      List<List<JudgedRun>> all, Function<VerdictRow, @Nullable String> messages) {
    List<List<JudgedRun>> environments = all.stream().filter(runs -> !runs.isEmpty()).toList();
    List<String> labels = labels(environments);
    Map<Identity, @Nullable VerdictRow[]> rows = new TreeMap<>();
    for (int i = 0; i < environments.size(); i++) {
      for (JudgedRun run : environments.get(i)) {
        for (VerdictRow row : run.rows()) {
          rows.computeIfAbsent(Identity.of(row), _ -> new VerdictRow[labels.size()])[i] = row;
        }
      }
    }
    List<Kernel> kernels = new ArrayList<>();
    List<Change> changes = new ArrayList<>();
    for (@Nullable VerdictRow[] each : rows.values()) {
      int differs = firstDifference(each);
      kernels.add(kernel(each, differs < 0 ? null : labels.get(differs), messages));
      if (differs > 0) changes.addAll(changes(each, differs, labels, messages));
    }
    List<Environment> described = new ArrayList<>();
    for (int i = 0; i < labels.size(); i++) {
      described.add(environment(labels.get(i), environments.get(i), i, rows.values()));
    }
    boolean timed =
        rows.values().stream()
            .flatMap(Arrays::stream)
            .anyMatch(row -> row != null && row.correctSpeedup() != null);
    return new EnvironmentMatrix("matrix", described, timed, kernels, changes);
  }

  /**
   * Whether two verdicts on one kernel are not the same: in status, in a property that both tell
   * of, or in speed by more than both intervals allow.
   */
  public static boolean differ(VerdictRow first, VerdictRow second) {
    return !found(first, second).isEmpty();
  }

  private record Found(Kind kind, String detail) {}

  private static List<Found> found(VerdictRow first, VerdictRow second) {
    List<Found> found = new ArrayList<>();
    if (!first.judged() || !second.judged()) return found;
    if (first.status() != second.status()) {
      String both = "%s → %s".formatted(first.status().label(), second.status().label());
      found.add(new Found(kind(first, second), both));
      return found;
    }
    for (String property : new TreeSet<>(second.breaks())) {
      if (first.holds().contains(property)) found.add(new Found(Kind.BREAKS, property));
    }
    for (String property : new TreeSet<>(second.holds())) {
      if (first.breaks().contains(property)) found.add(new Found(Kind.HOLDS, property));
    }
    Ratio before = first.correctSpeedup();
    Ratio after = second.correctSpeedup();
    if (before == null || after == null || !first.hasSizesOf(second)) return found;
    String ratio = String.format(Locale.ROOT, "%.2f× → %.2f×", before.value(), after.value());
    if (after.high() < before.low()) found.add(new Found(Kind.SLOWER, ratio));
    if (after.low() > before.high()) found.add(new Found(Kind.FASTER, ratio));
    return found;
  }

  private static Kind kind(VerdictRow first, VerdictRow second) {
    if (first.correct()) return Kind.REGRESSED;
    return second.correct() ? Kind.MENDED : Kind.FAILS_OTHERWISE;
  }

  /** The first place where the row is not as at place 0; -1 if there is none. */
  private static int firstDifference(@Nullable VerdictRow[] rows) {
    VerdictRow first = rows[0];
    if (first == null) return -1;
    for (int i = 1; i < rows.length; i++) {
      VerdictRow other = rows[i];
      if (other != null && differ(first, other)) return i;
    }
    return -1;
  }

  private static List<Change> changes(
      @Nullable VerdictRow[] rows,
      int differs,
      List<String> labels,
      Function<VerdictRow, @Nullable String> messages) {
    VerdictRow first = Objects.requireNonNull(rows[0]);
    VerdictRow second = Objects.requireNonNull(rows[differs]);
    int before = differs - 1;
    while (rows[before] == null) before--;
    String between = labels.get(before);
    return found(first, second).stream()
        .map(each ->
            new Change(
                first.candidate(),
                first.source(),
                first.category(),
                first.task(),
                each.kind(),
                between,
                labels.get(differs),
                each.detail(),
                first.status() == second.status()
                    ? null
                    : messages.apply(second.correct() ? first : second)))
        .toList();
  }

  private static Kernel kernel(
      @Nullable VerdictRow[] rows,
      @Nullable String differs,
      Function<VerdictRow, @Nullable String> messages) {
    VerdictRow any = Arrays.stream(rows).filter(Objects::nonNull).findFirst().orElseThrow();
    List<@Nullable Result> results = new ArrayList<>();
    for (VerdictRow row : rows) results.add(row == null ? null : result(row, messages.apply(row)));
    return new Kernel(
        any.candidate(),
        any.source(),
        any.suite(),
        any.category(),
        any.task(),
        Collections.unmodifiableList(results),
        differs);
  }

  private static Result result(VerdictRow row, @Nullable String message) {
    Ratio speedup = row.correctSpeedup();
    Timed timed =
        speedup == null ? null : new Timed(speedup.value(), speedup.low(), speedup.high());
    return new Result(row.status(), timed, row.holds(), row.breaks(), message);
  }

  private static Environment environment(
      String label, List<JudgedRun> runs, int place, Iterable<@Nullable VerdictRow[]> rows) {
    int judged = 0;
    int correct = 0;
    for (@Nullable VerdictRow[] each : rows) {
      VerdictRow row = each[place];
      if (row == null || !row.judged()) continue;
      judged++;
      if (row.correct()) correct++;
    }
    Map<String, String> versions = runs.getFirst().run().versions();
    List<String> ids = runs.stream().map(run -> run.run().id()).toList();
    return new Environment(label, ids, new TreeMap<>(versions), judged, correct);
  }

  /** What distinguishes the environments; numbered where nothing does. */
  private static List<String> labels(List<List<JudgedRun>> environments) {
    List<Map<String, String>> versions =
        environments.stream().map(runs -> runs.getFirst().run().versions()).toList();
    List<String> telling =
        TELLING.stream()
            .filter(name ->
                versions.stream().map(each -> each.getOrDefault(name, "")).distinct().count() > 1)
            .toList();
    List<String> names = telling.isEmpty() ? List.of(TELLING.getFirst()) : telling;
    List<String> labels = new ArrayList<>();
    for (Map<String, String> each : versions) {
      String label =
          names.stream()
              .map(name -> name + " " + each.getOrDefault(name, "unknown"))
              .collect(joining(", "));
      String own = label;
      for (int n = 2; labels.contains(own); n++) own = label + " #" + n;
      labels.add(own);
    }
    return labels;
  }
}
