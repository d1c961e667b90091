package dev.kbx.published;

import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Extraction;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.TaskNames;
import dev.kbx.published.PublishedFormat.Given;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Collects what a reader finds. */
final class Found {
  /** Larger numbers of samples are taken for something else. */
  private static final int MOST_SAMPLES = 1_000_000;

  private final @Nullable TaskNames names;
  private final Given given;
  private final List<Kept> kept = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();
  private int records;
  private int repeated;
  private int unusable;
  private int ofOtherTasks;
  private int moved;

  /**
   * A record without a final sample number.
   *
   * @param sample null if it is not stated
   */
  record Kept(
      String category,
      String task,
      String origin,
      @Nullable String method,
      @Nullable String model,
      @Nullable Integer round,
      @Nullable Integer sample,
      @Nullable String code,
      @Nullable PublishedOutcome outcome,
      @Nullable String hardware,
      JsonNode fields) {
    private PublishedResult numbered(int number) {
      return new PublishedResult(
          category, task, origin, method, model, round, number, code, outcome, hardware, fields);
    }

    private List<@Nullable Object> series() {
      return Arrays.asList(category, task, method, model, round, hardware);
    }
  }

  Found(@Nullable Suite suite, Given given) {
    this.names = suite == null ? null : new TaskNames(suite);
    this.given = given;
  }

  /** The names of the suite's tasks. Throws for a format without a suite. */
  TaskNames names() {
    if (names == null) throw new IllegalStateException("this format has no suite");
    return names;
  }

  Given given() {
    return given;
  }

  /** The stated method, or the given one. */
  @Nullable String method(@Nullable String stated) {
    return stated == null ? given.method() : stated;
  }

  /** The stated model, or the given one. */
  @Nullable String model(@Nullable String stated) {
    return stated == null ? given.model() : stated;
  }

  /** Counts a record, whether or not it can be used. */
  void count() {
    records++;
  }

  /** A record says again what an earlier one says. */
  void again() {
    repeated++;
  }

  void keep(Kept record) {
    kept.add(record);
  }

  /** A record cannot be used. */
  void unusable(String file, @Nullable Integer line, String message) {
    unusable++;
    problems.add(new Problem(file, line, message));
  }

  /** A file cannot be read, or is none of the format. */
  void unreadable(Path file, String message) {
    problems.add(new Problem(file.toString(), null, message, Problem.Kind.UNREADABLE));
  }

  /** A path does not exist, or nothing of the format is there. */
  void absent(Path path, String message) {
    problems.add(new Problem(path.toString(), null, message, Problem.Kind.ABSENT));
  }

  /**
   * The task of a file's name; null after reporting that the suite has none. Benchmarks move tasks:
   * the name decides, and such records are counted.
   */
  @Nullable Task task(String name, String file, @Nullable Integer line) {
    Task task = task(names().ofFile(name), file, line);
    boolean here =
        task == null || Set.of(task.name(), task.path()).contains(name.replaceFirst("\\.py$", ""));
    if (!here) moved++;
    return task;
  }

  /** The task of a match; null after reporting a problem. */
  @Nullable Task task(TaskNames.Match match, String file, @Nullable Integer line) {
    switch (match) {
      case TaskNames.Found(Task task, _) -> {
        return task;
      }
      case TaskNames.Missing(String reason) -> {
        ofOtherTasks++;
        unusable(file, line, reason);
      }
      case TaskNames.OfSuite(String other) ->
          unusable(file, line, "is for the suite %s; give it --suite %s".formatted(other, other));
    }
    return null;
  }

  /**
   * A published kernel as kbx judges it: without tests and fences; null if the record has none.
   *
   * @throws TooLarge if it is larger than a candidate may be
   */
  static @Nullable String code(JsonNode holder, String member, Task task) {
    JsonNode code = holder.path(member);
    if (!code.isString() || code.asString().isBlank()) return null;
    String text = code.asString();
    if (text.length() > CandidateSources.MAX_CODE
        || text.getBytes(StandardCharsets.UTF_8).length > CandidateSources.MAX_CODE) {
      throw new TooLarge();
    }
    return Extraction.published(text, task);
  }

  /** A kernel is larger than a candidate may be. */
  static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooLarge() {
      super("has a kernel of more than 1 MiB, the limit for a candidate");
    }
  }

  /** Stated sample numbers are kept, independent of order; the others are the lowest free ones. */
  PublishedReading reading() {
    Map<List<@Nullable Object>, BitSet> taken = new HashMap<>();
    int[] numbers = new int[kept.size()];
    for (int i = 0; i < numbers.length; i++) numbers[i] = stated(kept.get(i), taken);
    List<PublishedResult> results = new ArrayList<>();
    for (int i = 0; i < numbers.length; i++) {
      int number = numbers[i] >= 0 ? numbers[i] : free(in(taken, kept.get(i)));
      results.add(kept.get(i).numbered(number));
    }
    return new PublishedReading(
        results, problems, records, repeated, unusable, ofOtherTasks, moved);
  }

  private static int stated(Kept record, Map<List<@Nullable Object>, BitSet> taken) {
    Integer sample = record.sample();
    if (sample == null || sample > MOST_SAMPLES || in(taken, record).get(sample)) return -1;
    in(taken, record).set(sample);
    return sample;
  }

  private static int free(BitSet taken) {
    int number = taken.nextClearBit(0);
    taken.set(number);
    return number;
  }

  private static BitSet in(Map<List<@Nullable Object>, BitSet> taken, Kept record) {
    return taken.computeIfAbsent(record.series(), _ -> new BitSet());
  }
}
