package dev.kbx.app;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.error.InputException;
import dev.kbx.files.Folders;
import dev.kbx.judge.Verification;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.BrokenTask;
import dev.kbx.task.Checkout;
import dev.kbx.task.Definitions;
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
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a suite of a checkout of the original KernelBench-X or KernelBench, with task files that
 * refer to the originals, or of definitions, with task files that hold them; each is tried first.
 */
public final class TaskImport {
  /** The line that marks an imported task file. */
  private static final Pattern MARK =
      Pattern.compile("\n(ORIGINAL = Original(Model)?|DEFINITION = defined)\\(\n");

  private static final String REFERENCE = "reference";
  private static final String LEFT_OUT = "left_out";

  /** The line of the original at the start of a failure. */
  private static final Pattern LINE = Pattern.compile("^:([0-9]+): ");

  /** An imported original. */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public record Imported(
      String name,
      String category,
      String original,
      @Nullable String leftOut,
      List<String> accepts) {}

  /** An original that cannot be a task. */
  public record Unusable(String file, @Nullable Integer line, String reason) {
    static Unusable of(BrokenTask task) {
      return new Unusable(task.file().toString(), task.line(), task.message());
    }

    @Override
    public String toString() {
      return (line == null ? file : file + ":" + line) + ": " + reason;
    }
  }

  /**
   * What came of it.
   *
   * @param suite where the suite is, if anything was imported
   * @param files how many originals there are
   */
  public record Report(
      String suite, String source, int files, List<Imported> imported, List<Unusable> unusable) {}

  /** Hears of each task that was tried, one at a time. */
  public interface Listener {
    /**
     * A task was tried.
     *
     * @param tried how many were so far, of {@code all}
     */
    void tried(TaskVerdict verdict, int tried, int all);
  }

  private final Checkout originals;

  private TaskImport(Checkout originals) {
    this.originals = originals;
  }

  /**
   * Finds the originals.
   *
   * @param format {@code kernelbenchx}, {@code kernelbench}, {@code sol-execbench} or {@code
   *     flashinfer}
   * @param folder a checkout, its folder of categories or levels, or one of these; of definitions
   *     any folder that holds some
   */
  public static TaskImport of(String format, Path folder) {
    return new TaskImport(
        switch (format) {
          case "kernelbenchx" -> Originals.find(folder);
          case "kernelbench" -> OriginalLevels.find(folder);
          case "sol-execbench", "flashinfer" -> Definitions.find(format, folder);
          default ->
              throw new InputException(
                  "tasks import %s: only kernelbenchx, kernelbench, sol-execbench and flashinfer"
                          .formatted(format)
                      + " can be imported");
        });
  }

  /**
   * Tries the originals and writes the suite, in place of an earlier import; nothing if none of
   * them can be used.
   *
   * @param out the suite's folder. Throws {@link InputException} if it holds another file, or
   *     cannot be written
   */
  public Report run(Path out, JudgingSettings settings, Listener listener)
      throws InterruptedException {
    Path suite = out.toAbsolutePath().normalize();
    try {
      refuseForeign(out, suite);
      Path parent = suite.getParent();
      ResultsFolder.writable(parent == null ? suite : parent);
      Path draft =
          Files.createDirectories(
              suite.resolveSibling(
                  ".%s.%d".formatted(suite.getFileName(), ProcessHandle.current().pid())));
      try {
        Report report = fill(draft, suite, settings, listener);
        if (!report.imported().isEmpty()) publish(draft, suite);
        return report;
      } finally {
        delete(draft, settings.observer());
      }
    } catch (IOException e) {
      throw new InputException(
          "--output %s: cannot write there: %s".formatted(out, Reason.of(e)), e);
    }
  }

  private Report fill(Path draft, Path suite, JudgingSettings settings, Listener listener)
      throws IOException, InterruptedException {
    Map<String, Checkout.Written> written = new LinkedHashMap<>();
    List<Unusable> unusable = new ArrayList<>();
    try (SyntaxCheck syntax = settings.home().syntax()) {
      for (Path file : originals.files()) {
        switch (originals.write(file, syntax)) {
          case Checkout.Unusable(BrokenTask reason) -> unusable.add(Unusable.of(reason));
          case Checkout.Written task -> {
            String name = task.category() + "/" + task.name();
            if (written.putIfAbsent(name, task) == null) {
              Path category = Files.createDirectories(draft.resolve(task.category()));
              Files.writeString(category.resolve(task.name() + ".py"), task.text());
            } else {
              String reason = "has the name of " + written.get(name).original();
              unusable.add(new Unusable(task.original().toString(), null, reason));
            }
          }
        }
      }
    }
    List<Imported> imported = new ArrayList<>();
    if (!written.isEmpty()) {
      Suite tasks = settings.home().suite(draft.toString());
      for (BrokenTask broken : tasks.broken()) {
        unusable.add(Unusable.of(broken));
        Files.delete(broken.file());
      }
      Map<String, TaskVerdict> results = run(tasks, settings, listener);
      for (Map.Entry<String, Checkout.Written> task : written.entrySet()) {
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

  private Map<String, TaskVerdict> run(Suite tasks, JudgingSettings settings, Listener listener)
      throws InterruptedException {
    Map<String, TaskVerdict> verdicts = new HashMap<>();
    int total = tasks.tasks().size();
    Consumer<TaskVerdict> each =
        verdict -> {
          verdicts.put(verdict.path(), verdict);
          listener.tried(verdict, verdicts.size(), total);
        };
    try (WorkerPool pool = WorkerPool.forTasks(settings)) {
      Verification verification =
          pool.tasks(
              JudgingPool.controls(Plan.ARCH, settings.home().secret(), ModulePrecision.FP32));
      // Published sizes would take hours and a GPU, so only shapes are traced.
      if (!(originals instanceof Originals)) verification.traceShapes(tasks.tasks(), each);
      else verification.run(tasks.tasks(), Map.of(), each);
    }
    return verdicts;
  }

  /** Why an original cannot be a task; null if it can. */
  private static @Nullable Unusable reason(TaskVerdict result, Checkout.Written task) {
    String file = task.original().toString();
    String problem = result.problem();
    if (problem != null && task.before() > 0 && problem.startsWith(result.file())) {
      return new Unusable(file, null, inReference(problem, result.file(), task.before()));
    }
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

  /** A complaint about a task file that holds the original's code, with the line there. */
  private static String inReference(String problem, String file, int before) {
    String rest = problem.substring(file.length());
    Matcher line = LINE.matcher(rest);
    if (!line.find()) return rest.replaceFirst("^: ", "");
    int number = Integer.parseInt(line.group(1)) - before;
    String said = rest.substring(line.end());
    return number > 0 ? "line %d of its reference: %s".formatted(number, said) : said;
  }

  private static Imported imported(TaskVerdict result, Checkout.Written task) {
    String leftOut = task.leftOut();
    List<String> accepts = new ArrayList<>();
    for (Control control : result.controls()) {
      if (control.name().equals(LEFT_OUT)) leftOut = control.detail();
      if (control.kind() == Kind.NEGATIVE && !control.ok()) accepts.add(control.name());
    }
    return new Imported(
        result.name(),
        result.category(),
        task.original().toString(),
        leftOut,
        List.copyOf(accepts));
  }

  /** Refuses a folder with files that were not imported. */
  private static void refuseForeign(Path out, Path suite) throws IOException {
    ResultsFolder.refuseObstacle("--output " + out, out);
    for (Path file : sources(suite)) {
      if (!MARK.matcher(Files.readString(file)).find()) {
        throw new InputException(
            "--output %s: holds a file that was not imported, %s; name another folder"
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

  private static void delete(Path draft, Observer observer) {
    try {
      Folders.delete(draft);
    } catch (IOException e) {
      observer.note("cannot delete %s: %s".formatted(draft, Reason.of(e)));
    }
  }
}
