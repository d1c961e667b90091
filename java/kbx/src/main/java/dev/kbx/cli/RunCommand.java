package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.app.FolderLock;
import dev.kbx.app.HeldOut;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.Ledgers;
import dev.kbx.app.MethodRun;
import dev.kbx.app.PreparedMethods;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunPlan;
import dev.kbx.app.RunResults;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.store.RunStore;
import dev.kbx.task.Suite;
import dev.kbx.verdict.RunLabel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
      "Examples:",
      "  kbx run examples/methods/demo.toml",
      "  kbx run --method sample --samples 4 --model openai:NAME --tasks relu",
      "",
      "FILE.toml has the flags' names as keys (suite, tasks, out, …) and a [[method]]",
      "table for each method. Flags given beside it count before the file's keys.",
      "Answers are judged on other inputs than those that methods got feedback on."
    })
final class RunCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE.toml", arity = "0..1", description = "Methods and settings.")
  private @Nullable Path file;

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--run-name",
      paramLabel = "NAME",
      converter = Values.RunName.class,
      description = "What lists and pages call the run, in one line.")
  private @Nullable String name;

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--note",
      paramLabel = "TEXT",
      converter = Values.RunNote.class,
      description = "What there is to say of the run, shown on its pages.")
  private @Nullable String note;

  @Mixin private MethodFlags method = new MethodFlags();
  @Mixin private GenerationFlags flags = new GenerationFlags();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();
  @Mixin private Options.Store store = new Options.Store();

  @Spec private @Nullable CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    if (file == null) return run(List.of(method));
    MethodFile given = MethodFile.read(file);
    given.complete(requireNonNull(spec).commandLine());
    return run(given.methods());
  }

  private Integer run(List<MethodFlags> given) throws Exception {
    RunPlan heldOut = flags.heldOut().labelled(new RunLabel(name, note));
    boolean profile = given.stream().anyMatch(m -> m.feedback() == FeedbackKind.PROFILE);
    RunPlan development = heldOut.with(heldOut.plan().development(profile));
    JudgingSettings settings = workers.settings(cluster);
    workers.check(heldOut.plan().stages());
    ResultsFolder results = store.of(flags.out.path());
    results.store().check();
    try (PreparedMethods prepared = flags.prepared(given, development)) {
      Path folder = results.writable();
      Suite suite = heldOut.suite().suite();
      try (var _ = FolderLock.of(folder);
          RunStore opened = RunStore.open(results.store());
          Interrupts interrupts = new Interrupts("interrupted; nothing was asked yet");
          JudgingPool pool = JudgingPool.start(settings, List.of(suite))) {
        heldOut.suite().check(pool, heldOut.plan(), heldOut.selected(), settings.observer());
        List<PreparedMethod> methods = prepared.open(pool, settings, flags.out.path());
        MethodRun run = new MethodRun(development, methods, settings.observer());
        try (MethodRun.Opened ledger = run.open(folder, pool, flags.resume);
            HeldOut judged = HeldOut.open(opened, folder, heldOut, pool, run, ledger)) {
          interrupts.advise(Interrupts.RESUMABLE);
          run.run(ledger, pool, judged::submit);
          RunResults found = judged.finish();
          List<TrajectoryRow> rows = Ledgers.rows(ledger.file(), found.verdicts().rows());
          new EvalOutput(System.out, flags.json.isAsked()).printMethods(found, folder, rows);
          return ProgramFailures.report(ledger.file(), System.err);
        }
      }
    }
  }
}
