package dev.kbx.cli;

import dev.kbx.app.ChosenSuite;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.WorkerPool;
import dev.kbx.error.InputException;
import dev.kbx.files.Folders;
import dev.kbx.judge.Verification;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.OwnReference;
import dev.kbx.task.OwnTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx tasks new NAME --from FILE}: a task file made of a reference of the user's own. */
@Command(
    name = "new",
    description = {
      "Write a task file made of your own reference, to edit.",
      "It is tried before it is written, as 'kbx tasks verify' does."
    },
    mixinStandardHelpOptions = true)
final class NewTaskCommand implements Callable<Integer> {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");

  @Mixin private Options.Workers workers = new Options.Workers();

  @Parameters(paramLabel = "NAME", description = "The task's name.")
  private String name = "";

  @Option(
      names = "--from",
      paramLabel = "FILE[:NAME]",
      required = true,
      description = "The reference, as for 'kbx eval --reference'.")
  private String from = "";

  @Option(
      names = "--output",
      paramLabel = "FOLDER",
      description = "The suite's folder; the file goes into its folder own. Default: my-tasks.")
  private Path out = Path.of("my-tasks");

  /** The name that it had. */
  @Option(names = "--out", hidden = true)
  void formerly(Path given) {
    out = given;
  }

  @Option(
      names = "--backward",
      description = "The reference's gradients are the task, as for 'kbx eval --backward'.")
  private boolean backward;

  @Override
  public Integer call() {
    workers.check();
    if (!NAME.matcher(name).matches()) {
      throw new InputException(
          "tasks new %s: a name has letters, digits, '_', '-' and '.'".formatted(name));
    }
    OwnReference reference;
    try (SyntaxCheck syntax = Home.here().syntax()) {
      OwnReference read = OwnReference.read(from, syntax);
      reference = backward ? read.gradients() : read;
    }
    checkAlone(reference);
    checkDefined(reference);
    Path file = out.resolve(Task.OWN).resolve(name + ".py");
    if (Files.exists(file)) {
      throw new InputException(file + ": is there already; give another name, or delete it");
    }
    try {
      ResultsFolder.writable("--output " + out, out);
      // Not a temporary folder, which is closed to others: root's oracle is another user.
      Path draft = Files.createDirectory(out.resolve(".new" + UUID.randomUUID()));
      try (Interrupts _ = new Interrupts("interrupted; nothing was written")) {
        TaskVerdict verdict = tried(reference, draft);
        Files.createDirectories(file.getParent());
        Files.move(Path.of(verdict.file()), file);
        print(file, verdict);
        return ExitCode.OK;
      } catch (InterruptedException _) {
        return ExitCode.INCOMPLETE; // The interrupt has said so.
      } finally {
        delete(draft);
      }
    } catch (IOException e) {
      throw new InputException("%s: cannot be written (%s)".formatted(file, Reason.of(e)), e);
    }
  }

  /** A task file has the definition of its entry, which other tools read. */
  private void checkDefined(OwnReference reference) {
    if (reference.isModule() || reference.signature().isPresent()) return;
    throw new InputException(
        "%s: %s is assigned, and a task file defines its function: first write 'def %s(...):', which calls it"
            .formatted(from, reference.name(), reference.name()));
  }

  /** A task file stands alone: it is read, hashed and carried without the files beside it. */
  private void checkAlone(OwnReference reference) {
    if (reference.imported().isEmpty()) return;
    Path folder = reference.file().toAbsolutePath().getParent();
    throw new InputException(
        "%s: imports files beside it, and a task file stands alone: first put into it what it needs of %s"
            .formatted(
                from,
                reference.imported().keySet().stream()
                    .map(file -> folder == null ? file : folder.relativize(file))
                    .map(Path::toString)
                    .collect(Collectors.joining(", "))));
  }

  /** The first form of the task whose own reference passes, written into the draft. */
  private TaskVerdict tried(OwnReference reference, Path draft)
      throws IOException, InterruptedException {
    Path folder = Files.createDirectories(draft.resolve(Task.OWN));
    Path file = folder.resolve(name + ".py");
    String problem = "";
    try (WorkerPool pool = WorkerPool.forTasks(workers.settings())) {
      Verification verification =
          pool.tasks(JudgingPool.controls(Plan.ARCH, Home.here().secret(), ModulePrecision.FP32));
      List<Task> given = ChosenSuite.of(Home.here(), reference).suite().tasks();
      ChosenSuite.check(reference, verification, given, new TerminalObserver());
      OwnTask.Calls calls =
          verification
              .traced(given.getFirst())
              .map(found -> new OwnTask.Calls(found.numbers(), found.updates(), found.upstream()))
              .orElseGet(OwnTask.Calls::new);
      System.err.println("kbx: trying the task's controls, as 'kbx tasks verify' does");
      for (OwnTask form : OwnTask.values()) {
        Files.writeString(file, form.text(reference, calls));
        TaskVerdict verdict = verified(verification, draft);
        problem = problem(verdict);
        if (problem == null) return verdict;
      }
    }
    throw new InputException("%s: no task can be made of it: %s".formatted(from, problem));
  }

  private static TaskVerdict verified(Verification verification, Path draft)
      throws InterruptedException {
    Suite suite = Home.here().suite(draft.toAbsolutePath().toString());
    if (suite.tasks().isEmpty()) throw new InputException(suite.broken().getFirst().toString());
    List<TaskVerdict> found = new ArrayList<>();
    verification.run(suite.tasks(), Map.of(), found::add);
    return found.getFirst();
  }

  /** Why the reference does not pass; null where it does. */
  private static @Nullable String problem(TaskVerdict verdict) {
    if (verdict.problem() != null) return verdict.problem();
    return verdict.controls().stream()
        .filter(control -> control.name().equals("reference") && !control.ok())
        .map(Control::detail)
        .findFirst()
        .orElse(null);
  }

  private void print(Path file, TaskVerdict verdict) {
    System.out.println("written: " + file);
    verdict.controls().stream()
        .filter(control -> !control.ok())
        .forEach(control ->
            System.out.printf("control %s fails: %s%n", control.name(), control.detail()));
    System.out.println("next: edit it, and look at the result:");
    String suite = Terminal.word(out.toString());
    System.out.printf("  %s tasks verify %s --suite %s%n", Terminal.program(), name, suite);
    System.out.printf("  %s tasks show %s --suite %s%n", Terminal.program(), name, suite);
  }

  private static void delete(Path draft) {
    try {
      Folders.delete(draft);
    } catch (IOException e) {
      System.err.println("kbx: cannot delete %s: %s".formatted(draft, Reason.of(e)));
    }
  }
}
