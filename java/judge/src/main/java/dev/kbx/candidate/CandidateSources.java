package dev.kbx.candidate;

import dev.kbx.candidate.SampleNumbers.Series;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Reads candidates in KernelBenchX's three shapes: {@code .jsonl} predictions, {@code task.py}
 * files, and folders of both; for a suite with levels also KernelBench's run folders, whose file
 * names have level, number and sample; for a suite of definitions also {@link Solutions}. Unusable
 * files and rows are reported, and the rest is read.
 *
 * <p>Order is that of the sources, within a folder that of the paths, within a file that of the
 * lines. In folders, hidden entries, {@code __pycache__}, {@code __init__.py}, other kinds of files
 * and folders with the {@link SuiteMark} of another suite are ignored.
 */
public final class CandidateSources {
  /** Longest candidate, in bytes of UTF-8. */
  public static final int MAX_CODE = 1 << 20;

  /**
   * Longest line of a JSONL file, in bytes: a prompt, and an answer in which JSON may escape a byte
   * as six.
   */
  private static final int MAX_LINE = 8 * MAX_CODE;

  private static final String OWN =
      "; to judge it by a PyTorch file of your own, give --reference FILE";

  /** As many lines of a file with the same problem are named each. */
  private static final int MOST_ALIKE = 5;

  /** The method of kernels in sessions. */
  private static final String KERNELAGENT = "kernelagent";

  private final TaskNames names;
  private final Set<Task> selected;
  private final List<Found> found = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();
  private final Misdirected misdirected;
  private final Set<Path> seen = new HashSet<>();

  /** A user's own reference, which is not a candidate where it lies among them. */
  private final @Nullable Path reference;

  private Transitions transitions = new Transitions();
  private int unselected;

  /**
   * A candidate without a final sample number.
   *
   * @param sample the number that its source states; null without one
   */
  private record Found(
      Series series,
      Source source,
      String origin,
      @Nullable Integer sample,
      Map<String, String> conditions) {
    Found(Series series, Source source, String origin, @Nullable Integer sample) {
      this(series, source, origin, sample, Map.of());
    }

    Candidate numbered(int number) {
      return new Candidate(
          series.task(),
          source,
          origin,
          number,
          series.method(),
          series.model(),
          series.round(),
          conditions);
    }
  }

  private CandidateSources(Suite suite, Collection<Task> selected) {
    this.names = new TaskNames(suite);
    this.misdirected = new Misdirected(suite.name());
    this.selected = Set.copyOf(selected);
    this.reference = suite.ofOwnReference().flatMap(CandidateSources::original).orElse(null);
  }

  private static Optional<Path> original(Task own) {
    try {
      return own.original();
    } catch (IOException _) {
      return Optional.empty(); // The oracle says so.
    }
  }

  /** Reads candidates for every task of the suite. */
  public static Reading read(List<Path> sources, Suite suite) {
    return read(sources, suite, suite.tasks());
  }

  /**
   * The other suite that a source is marked for: by itself, or by a folder above it if that suite
   * is in kbx's folder.
   */
  private static Optional<String> otherSuite(Path source, Suite suite) {
    return SuiteMark.other(source, suite.name())
        .or(() ->
            SuiteMark.otherNear(source, suite.name())
                .filter(mark -> Files.isDirectory(suite.root().resolveSibling(mark))));
  }

  /**
   * Reads candidates for the selected tasks; those for other tasks of the suite are only counted.
   * Never throws: a path that does not exist is a problem of the kind {@link Problem.Kind#ABSENT},
   * and others are of other kinds. A file named twice is read once.
   */
  public static Reading read(List<Path> sources, Suite suite, Collection<Task> selected) {
    CandidateSources reader = new CandidateSources(suite, selected);
    boolean marked = suite.ofOwnReference().isEmpty();
    boolean ofDefinitions = suite.tasks().stream().anyMatch(Task::isDefinition);
    for (Path source : sources) {
      Optional<String> other = marked ? otherSuite(source, suite) : Optional.empty();
      if (other.isPresent()) {
        reader.misdirected.add(source.toString(), null, other.get());
        continue;
      }
      List<Path> sessions = Sessions.in(source);
      sessions.forEach(reader::readSession);
      Map<Path, JsonNode> solutions = ofDefinitions ? Solutions.in(source) : Map.of();
      solutions.forEach(reader::readSolution);
      if (sessions.contains(source) || solutions.containsKey(source)) continue;
      List<Problem> told = new ArrayList<>();
      List<Path> files =
          SourceFiles.in(
              source,
              told::add,
              folder ->
                  (marked && SuiteMark.other(folder, suite.name()).isPresent())
                      || Sessions.is(folder));
      // A folder of sessions or solutions need not hold other files.
      boolean isAlone = sessions.isEmpty() && solutions.isEmpty();
      if (!files.isEmpty() || isAlone) reader.problems.addAll(told);
      files.stream()
          .filter(file -> file.equals(source) || !reader.isReference(file))
          .filter(
              file -> file.equals(source) || !ofDefinitions || !Solutions.isPart(file, solutions))
          .forEach(reader::readFile);
    }
    return reader.reading();
  }

  private boolean isReference(Path file) {
    return file.toAbsolutePath().normalize().equals(reference);
  }

  private Reading reading() {
    List<Problem> all = misdirected.problems();
    all.addAll(problems);
    return new Reading(candidates(), all, unselected);
  }

  /** Candidates with stated numbers get them, independent of order; the others get free numbers. */
  private List<Candidate> candidates() {
    SampleNumbers numbers = new SampleNumbers();
    boolean[] stated = new boolean[found.size()];
    for (int i = 0; i < stated.length; i++) {
      Integer sample = found.get(i).sample;
      stated[i] = sample != null && numbers.take(found.get(i).series, sample);
    }
    List<Candidate> candidates = new ArrayList<>();
    for (int i = 0; i < stated.length; i++) {
      Found each = found.get(i);
      Integer sample = each.sample;
      candidates.add(
          each.numbered(sample != null && stated[i] ? sample : numbers.takeLowest(each.series)));
    }
    return candidates;
  }

  private void readFile(Path file) {
    if (!seen.add(file.toAbsolutePath().normalize())) return;
    try {
      if (SourceFiles.isPython(file)) readPython(file);
      else readPredictions(file);
    } catch (IOException e) {
      problems.add(SourceFiles.unreadable(file, SourceFiles.reason(e)));
    }
  }

  private void readSession(Path session) {
    if (!seen.add(session.toAbsolutePath().normalize())) return;
    Task task = task(names.ofSession(session, Sessions.problem(session)), session, null);
    if (task == null) return;
    for (Sessions.Kernel kernel : Sessions.kernels(session, problems::add)) {
      Series series = new Series(task, KERNELAGENT, null, kernel.round());
      String origin = kernel.file().toString();
      found.add(new Found(series, new Source.Text(kernel.code()), origin, kernel.sample()));
    }
  }

  private void readSolution(Path file, JsonNode solution) {
    if (!seen.add(file.toAbsolutePath().normalize())) return;
    TaskNames.Match match = names.ofFile(solution.path("definition").asString(""));
    Task task = task(match, file, null);
    if (task == null) return;
    try {
      Source source = new Source.Text(Solutions.code(solution, task));
      Series series = new Series(task, null, word(solution, "author"), null);
      found.add(new Found(series, source, file.toString(), null));
    } catch (Solutions.Unusable unusable) {
      problem(file, null, unusable.reason());
    }
  }

  private void readPython(Path file) {
    TaskNames.Match match = names.ofFile(file.toAbsolutePath().toString());
    if (match instanceof TaskNames.Missing(String reason)) {
      boolean ofRun = TaskNames.isLikeRunFile(file.getFileName().toString());
      problem(file, null, ofRun ? reason : reason + OWN);
      return;
    }
    Task task = task(match, file, null);
    if (task == null) return;
    String code = SourceFiles.code(file, problems::add);
    if (code == null) return;
    Series series = new Series(task, null, null, null);
    found.add(new Found(series, new Source.Text(code), file.toString(), match.sample()));
  }

  private void readPredictions(Path file) throws IOException {
    boolean empty = true;
    int before = found.size();
    int told = problems.size();
    Predictions predictions = new Predictions(file);
    transitions = new Transitions();
    try (Lines lines = new Lines(Files.newInputStream(file), MAX_LINE)) {
      for (Lines.Line line = lines.next(); line != null; line = lines.next()) {
        if (line.text() != null && line.text().isBlank()) continue;
        empty = false;
        readLine(predictions, line);
      }
    }
    if (empty) problem(file, null, "is empty; it should hold a JSON object per line");
    if (found.size() == before) joinAlike(file, problems.subList(told, problems.size()));
  }

  /** Of a file that holds something else each line has the same problem, which is said once. */
  private static void joinAlike(Path file, List<Problem> ofLines) {
    List<String> messages = ofLines.stream().map(Problem::message).distinct().toList();
    if (ofLines.size() <= MOST_ALIKE || messages.size() > 1) return;
    String each =
        "holds no predictions: each of %,d lines %s".formatted(ofLines.size(), messages.getFirst());
    ofLines.clear();
    ofLines.add(new Problem(file.toString(), null, each));
  }

  private void readLine(Predictions predictions, Lines.Line line) {
    Path file = predictions.file();
    String text = line.text();
    if (text == null) {
      String message =
          line.badByte() >= 0
              ? "is not UTF-8 at byte " + line.badByte() + " of the file; save it as UTF-8"
              : "is too long (" + line.length() + " bytes); a prediction may have 1 MiB";
      problem(file, line.number(), message);
      return;
    }
    try {
      JsonNode row = Predictions.row(text);
      String twice = Predictions.repeatedKey(text);
      if (twice != null)
        problem(file, line.number(), "has \"%s\" twice; which one counts?".formatted(twice));
      else if (row.isObject()) readRow(predictions, line, row);
      else problem(file, line.number(), "is no JSON object; each line should hold one");
    } catch (JacksonException e) {
      problem(file, line.number(), "is no JSON at column " + column(e) + "; is the line cut off?");
    }
  }

  private static int column(JacksonException e) {
    return e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getColumnNr());
  }

  private void readRow(Predictions predictions, Lines.Line line, JsonNode row) {
    Path file = predictions.file();
    if (Transitions.is(row)) {
      readTransition(predictions, line, row);
      return;
    }
    String answer = Predictions.answer(row, Predictions.PREDICT);
    if (answer == null) {
      problem(file, line.number(), "has no \"predict\"; it should hold the answer as a string");
      return;
    }
    TaskNames.Match match = names.ofRow(row);
    Task task = task(match, file, line.number());
    if (task == null) return;
    String mistyped = Predictions.mistyped(row);
    if (mistyped != null) {
      problem(file, line.number(), mistyped);
      return;
    }
    if (isTooLarge(answer, file, line)) return;
    Integer named = Predictions.count(row, "round");
    Integer round = named == null ? predictions.roundOfFile(row) : named;
    Series series = new Series(task, word(row, "method"), word(row, "model"), round);
    Integer sample = Predictions.count(row, "sample");
    found.add(
        new Found(
            series,
            predictions.source(line, task, Predictions.PREDICT),
            file + ":" + line.number(),
            sample == null ? match.sample() : sample,
            Predictions.conditions(row)));
  }

  private boolean isTooLarge(String answer, Path file, Lines.Line line) {
    // No character takes more than three bytes: short answers need not be encoded to be measured.
    boolean small = answer.length() <= MAX_CODE / 3;
    int size = small ? 0 : answer.getBytes(StandardCharsets.UTF_8).length;
    if (size <= MAX_CODE) return false;
    problem(file, line.number(), "has a prediction of " + size + " bytes; the limit is 1 MiB");
    return true;
  }

  /** Both kernels of a line of the iteration corpus, as candidates of their rounds. */
  private void readTransition(Predictions predictions, Lines.Line line, JsonNode row) {
    Path file = predictions.file();
    Task task = task(names.ofFile(Transitions.task(row)), file, line.number());
    if (task == null) return;
    for (Transitions.Kernel kernel : transitions.news(row)) {
      if (isTooLarge(kernel.code(), file, line)) continue;
      Series series = new Series(task, word(row, "method"), word(row, "model"), kernel.round());
      found.add(
          new Found(
              series,
              predictions.source(line, task, kernel.member()),
              file + ":" + line.number(),
              null));
    }
  }

  private static @Nullable String word(JsonNode row, String key) {
    JsonNode value = row.get(key);
    return value != null && value.isString() ? value.stringValue() : null;
  }

  /** The task if it is selected; else null, and the reason is recorded. */
  private @Nullable Task task(TaskNames.Match match, Path file, @Nullable Integer line) {
    return switch (match) {
      case TaskNames.Found(Task task, _) -> {
        if (selected.contains(task)) yield task;
        unselected++;
        yield null;
      }
      case TaskNames.OfSuite(String other) -> {
        misdirected.add(file.toString(), line, other);
        yield null;
      }
      case TaskNames.Missing(String reason) -> {
        problem(file, line, reason);
        yield null;
      }
    };
  }

  private void problem(Path file, @Nullable Integer line, String message) {
    problems.add(new Problem(file.toString(), line, message));
  }
}
