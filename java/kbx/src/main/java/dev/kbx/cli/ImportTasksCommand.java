package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.WorkerPool;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.error.InputException;
import dev.kbx.judge.Verification;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.BrokenTask;
import dev.kbx.task.Checkout;
import dev.kbx.task.OriginalLevels;
import dev.kbx.task.Originals;
import dev.kbx.task.Suite;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code kbx tasks import FORMAT DIR}: makes a suite of task files that refer to the originals,
 * after running each.
 */
@Command(
    name = "import",
    description = {
      "Make a suite of a checkout of the original KernelBench-X or KernelBench.",
      "The suite refers to its files, which must stay in place. Each file is tried first."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Exit codes: 0 imported (the report names files that cannot be used),",
      "1 DIR holds no task that can be used, 2 it could not complete."
    })
final class ImportTasksCommand implements Callable<Integer> {
  /** The line that marks an imported task file. */
  private static final Pattern MARK = Pattern.compile("\nORIGINAL = Original(Model)?\\(\n");

  private static final String REFERENCE = "reference";
  private static final String LEFT_OUT = "left_out";

  /** The line of the original at the start of a failure. */
  private static final Pattern LINE = Pattern.compile("^:([0-9]+): ");

  @Mixin private Options.Workers workers = new Options.Workers();

  @Parameters(index = "0", paramLabel = "FORMAT", description = "kernelbenchx or kernelbench")
  private String format = "";

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "A checkout, its folder of categories or levels, or one of these.")
  private Path folder = Path.of("");

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description = "Where the suite goes. Default: FORMAT-original.")
  private @Nullable Path named;

  private Path out = Path.of("");

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  /** An imported original. */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  record Imported(
      String name,
      String category,
      String original,
      @Nullable String leftOut,
      List<String> accepts) {}

  /** An original that cannot be a task. */
  record Unusable(String file, @Nullable Integer line, String reason) {
    static Unusable of(BrokenTask task) {
      return new Unusable(task.file().toString(), task.line(), task.message());
    }

    @Override
    public String toString() {
      return (line == null ? file : file + ":" + line) + ": " + reason;
    }
  }

  /** What {@code --json} prints. */
  record Report(
      String suite, String source, int files, List<Imported> imported, List<Unusable> unusable) {}

  @Override
  public Integer call() {
    workers.check();
    Checkout originals = find();
    out = named == null ? Path.of(format + "-original") : named;
    Path suite = out.toAbsolutePath().normalize();
    try {
      refuseForeign(suite);
      Path parent = suite.getParent();
      ResultsFolder.writable(parent == null ? suite : parent);
      Path draft =
          Files.createDirectories(
              suite.resolveSibling(
                  ".%s.%d".formatted(suite.getFileName(), ProcessHandle.current().pid())));
      try (Interrupts _ = new Interrupts("interrupted; nothing was imported")) {
        try {
          Report report = fill(draft, suite, originals);
          if (!report.imported().isEmpty()) publish(draft, suite);
          print(report);
          return report.imported().isEmpty() ? ExitCode.USAGE : ExitCode.OK;
        } finally {
          delete(draft);
        }
      } catch (InterruptedException _) {
        return ExitCode.INCOMPLETE; // The interrupt has said so.
      }
    } catch (IOException e) {
      throw new InputException("--out %s: cannot write there: %s".formatted(out, Reason.of(e)), e);
    }
  }

  private Checkout find() {
    return switch (format) {
      case "kernelbenchx" -> Originals.find(folder);
      case "kernelbench" -> OriginalLevels.find(folder);
      default ->
          throw new InputException(
              "tasks import %s: only kernelbenchx and kernelbench can be imported"
                  .formatted(format));
    };
  }

  private Report fill(Path draft, Path suite, Checkout originals)
      throws IOException, InterruptedException {
    Map<String, Path> written = new LinkedHashMap<>();
    List<Unusable> unusable = new ArrayList<>();
    try (SyntaxCheck syntax = Home.here().syntax()) {
      for (Path file : originals.files()) {
        switch (originals.write(file, syntax)) {
          case Checkout.Unusable(BrokenTask reason) -> unusable.add(Unusable.of(reason));
          case Checkout.Written task -> {
            Path category = Files.createDirectories(draft.resolve(task.category()));
            Files.writeString(category.resolve(task.name() + ".py"), task.text());
            written.put(task.category() + "/" + task.name(), task.original());
          }
        }
      }
    }
    List<Imported> imported = new ArrayList<>();
    if (!written.isEmpty()) {
      Suite tasks = Home.here().suite(draft.toString());
      for (BrokenTask broken : tasks.broken()) {
        unusable.add(Unusable.of(broken));
        Files.delete(broken.file());
      }
      Map<String, TaskVerdict> results = run(originals, tasks);
      for (Map.Entry<String, Path> task : written.entrySet()) {
        TaskVerdict result = results.get(task.getKey());
        if (result == null) continue; // Broken, as said above.
        Unusable reason = reason(result, task.getValue());
        if (reason == null) {
          imported.add(imported(result, task.getValue()));
        } else {
          unusable.add(reason);
          Files.delete(Path.of(result.file()));
        }
      }
    }
    List<String> order = originals.files().stream().map(Path::toString).toList();
    unusable.sort(Comparator.comparingInt(reason -> order.indexOf(reason.file())));
    String source = originals.folder().toString();
    return new Report(suite.toString(), source, originals.files().size(), imported, unusable);
  }

  private Map<String, TaskVerdict> run(Checkout originals, Suite tasks)
      throws InterruptedException {
    Map<String, TaskVerdict> verdicts = new HashMap<>();
    int total = tasks.tasks().size();
    Consumer<TaskVerdict> listener =
        verdict -> {
          verdicts.put(verdict.path(), verdict);
          System.err.printf(
              "[%d/%d] %s  %s%n",
              verdicts.size(), total, verdict.problem() == null ? "ok  " : "FAIL", verdict.path());
        };
    try (WorkerPool pool = WorkerPool.forTasks(workers.settings())) {
      Verification verification =
          pool.tasks(JudgingPool.controls(Plan.ARCH, Home.here().secret(), ModulePrecision.FP32));
      // Published sizes would take hours and a GPU, so only shapes are traced.
      if (originals instanceof OriginalLevels) verification.traceShapes(tasks.tasks(), listener);
      else verification.run(tasks.tasks(), Map.of(), listener);
    }
    return verdicts;
  }

  /** Why an original cannot be a task; null if it can. */
  private static @Nullable Unusable reason(TaskVerdict result, Path original) {
    String file = original.toString();
    String problem = result.problem();
    if (problem != null && problem.startsWith(file)) {
      String rest = problem.substring(file.length());
      Matcher line = LINE.matcher(rest);
      return line.find()
          ? new Unusable(file, Integer.valueOf(line.group(1)), rest.substring(line.end()))
          : new Unusable(file, null, rest.replaceFirst("^: ", ""));
    }
    if (problem != null) {
      return new Unusable(file, null, "the worker that ran it failed: " + problem);
    }
    return result.controls().stream()
        .filter(control -> control.name().equals(REFERENCE) && !control.ok())
        .map(control ->
            new Unusable(
                file, null, "the reference fails the original's rules: " + control.detail()))
        .findFirst()
        .orElse(null);
  }

  private static Imported imported(TaskVerdict result, Path original) {
    String leftOut = null;
    List<String> accepts = new ArrayList<>();
    for (Control control : result.controls()) {
      if (control.name().equals(LEFT_OUT)) leftOut = control.detail();
      if (control.kind() == Kind.NEGATIVE && !control.ok()) accepts.add(control.name());
    }
    return new Imported(
        result.name(), result.category(), original.toString(), leftOut, List.copyOf(accepts));
  }

  private void print(Report report) {
    if (json.isAsked()) {
      Options.JsonFlag.print(report);
      return;
    }
    int usable = report.imported().size();
    System.out.printf("%d of %s imported", usable, Counted.of(report.files(), "file"));
    System.out.println(usable == 0 ? "; no suite is written" : " into " + report.suite());
    report.unusable().forEach(file -> System.out.println(Text.clean(file.toString())));
    Map<String, Integer> weak = new LinkedHashMap<>();
    for (Imported task : report.imported()) {
      if (task.leftOut() != null) {
        System.out.printf("%s/%s: %s%n", task.category(), task.name(), Text.clean(task.leftOut()));
      }
      task.accepts().forEach(control -> weak.merge(control, 1, Integer::sum));
    }
    weak.forEach((control, tasks) ->
        System.out.printf(
            "control %s passes the original's tests in %d of %s%n",
            control, tasks, Counted.of(usable, "task")));
  }

  /** Refuses a folder with files that were not imported. */
  private void refuseForeign(Path suite) throws IOException {
    ResultsFolder.refuseObstacle("--out " + out, out);
    for (Path file : sources(suite)) {
      if (!MARK.matcher(Files.readString(file)).find()) {
        throw new InputException(
            "--out %s: holds a file that was not imported, %s; name another folder"
                .formatted(out, suite.relativize(file)));
      }
    }
  }

  /** Replaces an earlier import by this one. */
  private static void publish(Path draft, Path suite) throws IOException {
    for (Path file : sources(suite)) Files.delete(file);
    for (Path file : sources(draft)) {
      Path target = suite.resolve(draft.relativize(file));
      Files.createDirectories(target.getParent());
      Files.move(file, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static List<Path> sources(Path suite) throws IOException {
    if (!Files.isDirectory(suite)) return List.of();
    try (Stream<Path> files = Files.walk(suite, 2)) {
      return files.filter(file -> file.toString().endsWith(".py")).toList();
    }
  }

  private static void delete(Path folder) {
    if (!Files.isDirectory(folder)) return;
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    } catch (IOException e) {
      System.err.println("kbx: cannot delete %s: %s".formatted(folder, Reason.of(e)));
    }
  }
}
