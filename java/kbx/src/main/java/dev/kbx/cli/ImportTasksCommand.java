package dev.kbx.cli;

import dev.kbx.app.TaskImport;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.verdict.TaskVerdict;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code kbx tasks import FORMAT DIR}: makes a suite of task files that refer to the originals, or
 * hold definitions, after running each.
 */
@Command(
    name = "import",
    description = {
      "Make a suite of a checkout of the original KernelBench-X or KernelBench, or of definitions",
      "and workloads of SOL-ExecBench or flashinfer-bench. Each file is tried first. A suite of"
          + " the",
      "originals refers to their files, which must stay in place; one of definitions holds them."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Exit codes: 0 imported (the report names files that cannot be used),",
      "1 DIR holds no task that can be used, 2 it could not complete."
    })
final class ImportTasksCommand implements Callable<Integer> {
  @Mixin private Options.Workers workers = new Options.Workers();

  @Parameters(
      index = "0",
      paramLabel = "FORMAT",
      description = "kernelbenchx, kernelbench, sol-execbench or flashinfer")
  private String format = "";

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description =
          "A checkout, its folder of categories or levels, or one of these; of definitions any"
              + " folder that holds some.")
  private Path folder = Path.of("");

  @Option(
      names = "--output",
      paramLabel = "FOLDER",
      description = "Where the suite goes. Default: FORMAT-original.")
  private @Nullable Path named;

  /** The name that it had. */
  @Option(names = "--out", hidden = true)
  void formerly(Path given) {
    named = given;
  }

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Override
  public Integer call() {
    workers.check();
    Path out = named == null ? Path.of(format + "-original") : named;
    try (Interrupts _ = new Interrupts("interrupted; nothing was imported")) {
      TaskImport.Report report =
          TaskImport.of(format, folder).run(out, workers.settings(), ImportTasksCommand::say);
      print(report);
      return report.imported().isEmpty() ? ExitCode.USAGE : ExitCode.OK;
    } catch (InterruptedException _) {
      return ExitCode.INCOMPLETE; // The interrupt has said so.
    }
  }

  private static void say(TaskVerdict verdict, int tried, int all) {
    String ended = verdict.problem() == null ? "ok  " : "FAIL";
    System.err.printf("[%d/%d] %s  %s%n", tried, all, ended, verdict.path());
  }

  private void print(TaskImport.Report report) {
    if (json.isAsked()) {
      Options.JsonFlag.print(report);
      return;
    }
    int usable = report.imported().size();
    System.out.printf("%d of %s imported", usable, Counted.of(report.files(), "file"));
    System.out.println(usable == 0 ? "; no suite is written" : " into " + report.suite());
    report.unusable().forEach(file -> System.out.println(Text.clean(file.toString())));
    Map<String, Integer> weak = new LinkedHashMap<>();
    for (TaskImport.Imported task : report.imported()) {
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
}
