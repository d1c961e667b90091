package dev.kbx.cli;

import dev.kbx.report.Counted;
import dev.kbx.report.RunFolder;
import dev.kbx.report.RunVerdicts;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx export}: a run in the files of another harness. */
@Command(
    name = "export",
    description = "Write a run as the files of another harness.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "kernelbench: a run folder of KernelBench. Every kernel is a file,",
      "level_L_problem_P_sample_S_kernel.py, beside eval_results.json; prompts and",
      "generation_config.yaml come along if kernels were read from such a folder.",
      "Where kernels were timed, the references' times are under results/timing."
    })
final class ExportCommand implements Callable<Integer> {
  private static final String KERNELBENCH = "kernelbench";

  @Mixin private RunsCommand.Folder results = new RunsCommand.Folder();

  @Parameters(index = "0", paramLabel = "FORMAT", description = "kernelbench.")
  private String format = KERNELBENCH;

  @Parameters(index = "1", paramLabel = "DIR", description = "A new or empty folder.")
  private Path target = Path.of("");

  @Option(names = "--run", paramLabel = "RUN", description = "Default: the newest in --out.")
  private @Nullable String run;

  @Override
  public Integer call() {
    if (!format.equals(KERNELBENCH)) {
      throw new UserError("export: no format '%s'; there is %s".formatted(format, KERNELBENCH));
    }
    try (RunStore store = results.open()) {
      RunInfo chosen = chosen(store);
      RunVerdicts verdicts = StoredVerdicts.of(store, chosen.id());
      RunFolder.Written written =
          new RunFolder(empty(target)).write(verdicts, verdict -> source(store, verdict));
      if (written.kernels() == 0) {
        throw new UserError(
            "run %s has no verdict on a task of KernelBench: nothing was written"
                .formatted(chosen.id()));
      }
      System.err.printf(
          "kbx: run %s: %s%s%s in %s%n",
          chosen.id(),
          Counted.of(written.kernels(), "kernel"),
          written.prompts() == 0 ? "" : ", " + Counted.of(written.prompts(), "prompt"),
          written.configuration() ? ", generation_config.yaml" : "",
          target);
      if (written.untimed() > 0) warn(written.untimed(), chosen.id());
      return ExitCode.OK;
    }
  }

  /** Warns that KernelBench's scripts have no value for an unknown time. */
  private static void warn(int untimed, String run) {
    System.err.printf(
        "kbx: %s without a runtime: KernelBench's analysis script reads -1 as a negative speedup,"
            + " and counts none of them in fast_0; kbx analyze fastp %s does%n",
        Counted.of(untimed, "correct kernel"), run);
  }

  private static String source(RunStore store, Verdict verdict) {
    return store
        .source(verdict.candidate())
        .orElseThrow(() -> new UserError(verdict.source() + ": its source was not kept"));
  }

  private RunInfo chosen(RunStore store) {
    String id = run;
    if (id != null) return store.run(id).orElseThrow(() -> results.unknown(id, store));
    List<RunInfo> runs = store.runs();
    if (runs.isEmpty()) throw new UserError("export: there is no run yet");
    return runs.getFirst();
  }

  /** Checks that the folder is empty or does not exist. */
  private static Path empty(Path folder) {
    OutFolder.refuseObstacle(folder.toString(), folder);
    if (!Files.exists(folder)) return folder;
    try (Stream<Path> files = Files.list(folder)) {
      if (files.findAny().isEmpty()) return folder;
    } catch (IOException e) {
      throw new UserError("%s: cannot be read: %s".formatted(folder, Reason.of(e)));
    }
    throw new UserError("%s: is not empty; name a new folder".formatted(folder));
  }
}
