package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.FileTasks;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticCheck;
import dev.kbx.error.InputException;
import dev.kbx.facts.Facts;
import dev.kbx.program.Program;
import dev.kbx.report.CheckJson;
import dev.kbx.report.CheckText;
import dev.kbx.report.Checks;
import dev.kbx.report.Sarif;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx check FILE…}: the static stage alone, without Python. */
@Command(
    name = "check",
    description = "Look for cheats and mistakes in source, without running it.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "FILE is a Python file, a KernelBenchX predictions file (.jsonl), a folder of",
      "both, or - for stdin. A file named after a task is checked against that task,",
      "any other by itself. Nothing is run. Python is not needed; if it is there,",
      "syntax errors are told in its words.",
      "Exit code 0 whatever is found; with --strict 1 where a source is rejected,",
      "broken, or cannot be used."
    })
final class CheckCommand implements Callable<Integer> {
  /** Output format of findings. */
  enum Format {
    TEXT,
    JSON,
    SARIF
  }

  @Parameters(paramLabel = "FILE", arity = "0..*", description = "Files or folders to check.")
  private List<Path> files = List.of();

  @Mixin private Options.SuiteChoice suite = new Options.SuiteChoice();

  @Option(
      names = "--task",
      paramLabel = "TASK",
      description = "The task of every Python file, whatever it is called.")
  private @Nullable String task;

  @Option(
      names = "--severity",
      paramLabel = "LEAST",
      defaultValue = "flag",
      description = "Show what is at least this severe: reject, flag or note. Default: flag.")
  private Severity severity = Severity.FLAG;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text, json, or sarif for code hosts and editors. Default: text.")
  private Format format = Format.TEXT;

  @Mixin private Options.PolicyChoice policy = new Options.PolicyChoice();
  @Mixin private Options.RulesOff rules = new Options.RulesOff();

  @Option(
      names = "--strict",
      description = "Exit code 1 where a source is rejected, broken or unusable, as CI wants it.")
  private boolean strict;

  @Option(names = "--rules", description = "List all rules.")
  private boolean list;

  @Option(
      names = "--explain",
      paramLabel = "ID",
      description = "Explain a rule: what it is for, what to do instead.")
  private @Nullable String explain;

  @Option(
      names = "--facts",
      description = {
        "Describe the sources instead, as JSON: kernels, launches, code quality,",
        "and a fingerprint that is equal or alike for copies."
      })
  private boolean facts;

  @Override
  public Integer call() throws Exception {
    Rules active = rules.rules();
    List<RuleInfo> infos = active.infos();
    if (explain != null) {
      System.out.print(RuleText.explanation(Rules.info(explain)));
      return ExitCode.OK;
    }
    if (list) {
      System.out.print(format == Format.TEXT ? RuleText.list(infos) : json(infos));
      return ExitCode.OK;
    }
    if (files.isEmpty()) {
      throw new InputException("name at least one FILE: a .py file, a .jsonl file, a folder, or -");
    }
    if (facts) {
      System.out.print(json(described()));
      return ExitCode.OK;
    }
    Checks checks;
    try (SyntaxCheck syntax = Home.here().syntax()) {
      checks =
          new CheckedSources(new StaticCheck(active, policy.policy(), syntax), suite, task)
              .check(files, severity);
    }
    if (checks.sources().isEmpty() && checks.problems().size() == 1) {
      throw new InputException(checks.problems().getFirst());
    }
    Problems.print(checks.problems());
    if (checks.sources().isEmpty()) throw new InputException("nothing to check");
    TerminalStream.style(System.out, rendered(checks, infos));
    Problems.recall(checks.problems(), null);
    boolean refused =
        !checks.problems().isEmpty() || checks.sources().stream().anyMatch(Checks.Checked::refused);
    return strict && refused ? ExitCode.USAGE : ExitCode.OK;
  }

  private String rendered(Checks checks, List<RuleInfo> infos) {
    return switch (format) {
      case TEXT -> new CheckText(Terminal.columns(), Terminal.colours()).render(checks);
      case JSON -> CheckJson.render(checks, Home.version()) + "\n";
      case SARIF ->
          new Sarif(infos, Home.version(), Path.of("").toAbsolutePath()).render(checks) + "\n";
    };
  }

  private List<DescribedSources.Described> described() throws IOException {
    var sources =
        new DescribedSources(suite, problem -> System.err.println("kbx: " + problem))
            .describe(files);
    if (sources.isEmpty()) throw new InputException("nothing to describe");
    return sources;
  }

  private static String json(List<?> infos) {
    return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(infos) + "\n";
  }

  /** Rules as text for a terminal. */
  private static final class RuleText {
    private static final String POLICY =
        "\n\nIt does not stop the published accounting: eval calls the candidate and compares its"
            + " results, for call_ok and exe_ok. With --policy mixed it is a flag.";

    private RuleText() {}

    /** A line for each rule: severity, id, title. */
    static String list(List<RuleInfo> rules) {
      int width = rules.stream().mapToInt(rule -> rule.id().length()).max().orElse(0);
      StringBuilder text = new StringBuilder();
      for (RuleInfo rule : rules) {
        text.append(
            "%-6s  %s  %s%n"
                .formatted(
                    rule.severity().label(),
                    rule.id() + " ".repeat(width - rule.id().length()),
                    rule.title()));
      }
      return text.toString();
    }

    /** All about one rule. */
    static String explanation(RuleInfo rule) {
      return """
      %s (%s): %s

      %s%s

      Instead: %s

      Example of what it finds:

      %s\
      """
          .formatted(
              rule.id(),
              rule.severity().label(),
              rule.title(),
              rule.rationale().strip(),
              Rules.isPolicy(rule.id()) ? POLICY : "",
              rule.advice().strip(),
              rule.example().stripTrailing().indent(4));
    }
  }

  /** Facts about the sources of {@code kbx check --facts}. */
  private static final class DescribedSources {
    /**
     * One source.
     *
     * @param file its path, with the line of a prediction
     */
    record Described(String file, Facts facts) {}

    private final Options.SuiteChoice suite;
    private final Consumer<Problem> problems;

    DescribedSources(Options.SuiteChoice suite, Consumer<Problem> problems) {
      this.suite = suite;
      this.problems = problems;
    }

    List<Described> describe(List<Path> sources) throws IOException {
      List<Described> found = new ArrayList<>();
      for (Path source : sources) {
        for (Path file : SourceFiles.in(source, problems)) {
          if (SourceFiles.isPython(file)) {
            String code = SourceFiles.code(file, problems);
            if (code != null) found.add(described(file.toString(), code));
          } else {
            found.addAll(predictions(file));
          }
        }
      }
      return found;
    }

    private List<Described> predictions(Path file) {
      Reading reading = CandidateSources.read(List.of(file), suite.open());
      reading.problems().forEach(problems);
      return reading.candidates().stream().map(DescribedSources::described).toList();
    }

    private static Described described(Candidate candidate) {
      return described(candidate.origin(), candidate.code());
    }

    private static Described described(String file, String code) {
      return new Described(file, Facts.of(Program.of(code)));
    }
  }

  /** Reads and checks the sources of {@code kbx check}, on all processors. */
  private static final class CheckedSources {
    private static final Path STDIN = Path.of("-");

    private final StaticCheck check;
    private final Options.SuiteChoice suite;
    private final @Nullable String task;
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

    /**
     * @param task the task of every Python file; null to derive it from the file's name
     */
    CheckedSources(StaticCheck check, Options.SuiteChoice suite, @Nullable String task) {
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
      List<Checks.Checked> checked = checked(files, python, tasks);
      return new Checks(
          checked, problems.stream().sorted().toList(), least, (System.nanoTime() - start) / 1e9);
    }

    private List<Checks.Checked> checked(Set<Path> files, List<Path> python, Suite tasks) {
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
      throw new InputException("--task %s: means several tasks; name one".formatted(task));
    }

    private Stream<Checks.Checked> check(Path file, Suite tasks, @Nullable Task against) {
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

    private Stream<Checks.Checked> check(
        String name, @Nullable String code, @Nullable Task against) {
      if (code == null) return Stream.empty();
      String path = against == null ? null : against.path();
      return told(name, () -> new Checks.Checked(name, null, path, check.check(code, against)));
    }

    /** Checks one source; reports a fault of kbx, so that the other sources are checked. */
    private Stream<Checks.Checked> told(String name, Supplier<Checks.Checked> checking) {
      try {
        return Stream.of(checking.get());
      } catch (RuntimeException | StackOverflowError e) {
        problems.add(name + ": kbx failed on this source: " + e);
        return Stream.empty();
      }
    }

    private Stream<Checks.Checked> predictions(Path file, Suite tasks) {
      Reading reading = CandidateSources.read(List.of(file), tasks);
      reading.problems().forEach(this::problem);
      return reading.candidates().stream()
          .flatMap(candidate -> told(candidate.origin(), () -> checked(file, candidate)));
    }

    private Checks.Checked checked(Path file, Candidate candidate) {
      int row = Integer.parseInt(candidate.origin().substring(file.toString().length() + 1));
      return new Checks.Checked(
          file.toString(), row, candidate.task().path(), check.check(candidate));
    }

    private void problem(Problem problem) {
      problems.add(problem.toString());
    }
  }
}
