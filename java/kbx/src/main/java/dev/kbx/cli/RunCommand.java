package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.Conditions.FeedbackKind;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code kbx run}: methods write kernels, the referee judges their answers, the report compares.
 */
@Command(
    name = "run",
    description = "Let methods write kernels, judge their answers, report: in one resumable run.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "FILE.toml has the flags' names as keys (suite, tasks, out, …) and a [[method]]",
      "table for each method. Flags given beside it count before the file's keys.",
      "Answers are judged on other inputs than those that methods got feedback on."
    })
final class RunCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE.toml", arity = "0..1", description = "Methods and settings.")
  private @Nullable Path file;

  @Mixin private MethodFlags method = new MethodFlags();
  @Mixin private GenerationFlags flags = new GenerationFlags();
  @Mixin private WorkerOptions workers = new WorkerOptions();
  @Mixin private ClusterOptions cluster = new ClusterOptions();
  @Mixin private StoreOption stores = new StoreOption();

  @Spec private @Nullable CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    if (file == null) return run(List.of(method));
    MethodFile given = MethodFile.read(file);
    given.complete(requireNonNull(spec).commandLine());
    return run(given.methods());
  }

  private Integer run(List<MethodFlags> given) throws Exception {
    Suite suite = flags.asked.open();
    List<Task> selected = flags.select(suite);
    Plan heldOut = flags.heldOut();
    boolean profile = given.stream().anyMatch(m -> m.feedback() == FeedbackKind.PROFILE);
    Plan development = heldOut.development(profile);
    workers.check(heldOut.stages());
    StoreAddress address = stores.address(flags.out);
    address.check();
    try (PreparedMethods prepared = new PreparedMethods(flags, suite, selected, development)) {
      var _ = prepared.settings(given);
      Path folder = OutFolder.writable(flags.out);
      try (var _ = FolderLock.of(folder);
          RunStore store = RunStore.open(address);
          Interrupts interrupts = new Interrupts("interrupted; nothing was asked yet");
          JudgingPool pool = JudgingPool.start(workers, cluster, List.of(suite))) {
        flags.asked.check(pool, heldOut, selected);
        List<PreparedMethod> methods = prepared.open(given, pool, workers);
        MethodRun run = new MethodRun(flags, methods, selected, development);
        try (MethodRun.Opened opened = run.open(folder, pool);
            HeldOut judged = HeldOut.open(store, folder, heldOut, pool, flags, run, opened)) {
          interrupts.advise(Interrupts.RESUMABLE);
          run.run(opened, pool, judged::submit);
          RunResults results = judged.finish();
          List<TrajectoryRow> rows = LedgerRows.of(opened.file(), results.verdicts().rows());
          results.print(flags.json, folder, rows);
          return ProgramFailures.report(opened.file(), System.err);
        }
      }
    }
  }
}
