package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.FileTasks;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticCheck;
import dev.kbx.report.Checked;
import dev.kbx.report.Checks;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads and checks the sources of {@code kbx check}, on all processors. */
final class CheckedSources {
  private static final Path STDIN = Path.of("-");

  private final StaticCheck check;
  private final SuiteOption suite;
  private final @Nullable String task;
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

  /**
   * @param task the task of every Python file; null to derive it from the file's name
   */
  CheckedSources(StaticCheck check, SuiteOption suite, @Nullable String task) {
    this.check = check;
    this.suite = suite;
    this.task = task;
  }

  /** Checks everything; a file named twice is checked once. */
  Checks check(List<Path> sources, Severity least) throws IOException {
    long start = System.nanoTime();
    Set<Path> files = new LinkedHashSet<>();
    for (Path source : sources) {
      if (source.equals(STDIN)) files.add(STDIN);
      else files.addAll(SourceFiles.in(source, this::problem));
    }
    List<Path> python = files.stream().filter(SourceFiles::isPython).toList();
    Suite tasks = tasks(files, python);
    List<Checked> checked = checked(files, python, tasks);
    return new Checks(
        checked, problems.stream().sorted().toList(), least, (System.nanoTime() - start) / 1e9);
  }

  private List<Checked> checked(Set<Path> files, List<Path> python, Suite tasks) {
    Task given = task == null ? null : tasks.find(task).getFirst();
    FileTasks named = new FileTasks(given == null ? python : List.of(), tasks);
    named.problems().forEach(this::problem);
    return files.parallelStream()
        .flatMap(file -> check(file, tasks, given == null ? named.of(file).orElse(null) : given))
        .toList();
  }

  /** Opens only the needed tasks of the suite: reading all takes longer than most checks. */
  private Suite tasks(Set<Path> files, List<Path> python) {
    if (!files.stream().allMatch(file -> SourceFiles.isPython(file) || file.equals(STDIN))) {
      return suite.open();
    }
    if (task == null) {
      Suite few = suite.open(FileTasks.names(python));
      // The message about a file without a task needs all tasks.
      return new FileTasks(python, few).problems().isEmpty() ? few : suite.open();
    }
    try {
      Suite one = suite.open(Predicate.isEqual(task.substring(task.lastIndexOf('/') + 1)));
      if (one.find(task).size() == 1) return one;
    } catch (UnknownTask e) {
      // Opening the whole suite gives a message with similar names.
    }
    Suite all = suite.open();
    if (all.find(task).size() == 1) return all;
    throw new UserError("--task %s: means several tasks; name one".formatted(task));
  }

  private Stream<Checked> check(Path file, Suite tasks, @Nullable Task against) {
    if (file.equals(STDIN)) return check("<stdin>", stdin(), against);
    if (!SourceFiles.isPython(file)) return predictions(file, tasks);
    return check(file.toString(), SourceFiles.code(file, this::problem), against);
  }

  private @Nullable String stdin() {
    try {
      return SourceFiles.code(System.in, "<stdin>", this::problem);
    } catch (IOException e) {
      problems.add("<stdin>: cannot be read (" + Reason.of(e) + ")");
      return null;
    }
  }

  private Stream<Checked> check(String name, @Nullable String code, @Nullable Task against) {
    if (code == null) return Stream.empty();
    String path = against == null ? null : against.path();
    return told(name, () -> new Checked(name, null, path, check.check(code, against)));
  }

  /** Checks one source; reports a fault of kbx, so that the other sources are checked. */
  private Stream<Checked> told(String name, Supplier<Checked> checking) {
    try {
      return Stream.of(checking.get());
    } catch (RuntimeException | StackOverflowError e) {
      problems.add(name + ": kbx failed on this source: " + e);
      return Stream.empty();
    }
  }

  private Stream<Checked> predictions(Path file, Suite tasks) {
    Reading reading = CandidateSources.read(List.of(file), tasks);
    reading.problems().forEach(this::problem);
    return reading.candidates().stream()
        .flatMap(candidate -> told(candidate.origin(), () -> checked(file, candidate)));
  }

  private Checked checked(Path file, Candidate candidate) {
    int row = Integer.parseInt(candidate.origin().substring(file.toString().length() + 1));
    return new Checked(file.toString(), row, candidate.task().path(), check.check(candidate));
  }

  private void problem(Problem problem) {
    problems.add(problem.toString());
  }
}
