package dev.kbx.cli;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Causes;
import dev.kbx.analysis.CodeQuality;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.DeviceUse;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.FastP;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.PassK;
import dev.kbx.analysis.SampleCounts;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.app.Home;
import dev.kbx.app.Ledgers;
import dev.kbx.app.NamedRun;
import dev.kbx.document.Document;
import dev.kbx.error.InputException;
import dev.kbx.report.SuiteSelection;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.BudgetSection.Curves;
import dev.kbx.section.DevianceSection;
import dev.kbx.section.EfficiencySection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.FastPSection;
import dev.kbx.section.IterationsSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.PassKSection;
import dev.kbx.section.QualitySection;
import dev.kbx.section.TurnsSection;
import dev.kbx.section.TurnsSection.Turns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx analyze}: figures of one or several runs. */
@Command(
    name = "analyze",
    description = "Analyse judged runs; alone, a summary of the newest one in --out.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "ANALYSIS",
    subcommands = {
      AnalyzeCommand.BudgetCommand.class,
      AnalyzeCommand.DevianceCommand.class,
      AnalyzeCommand.EfficiencyCommand.class,
      AnalyzeCommand.ErrorsCommand.class,
      AnalyzeCommand.FastpCommand.class,
      AnalyzeCommand.IterationsCommand.class,
      AnalyzeCommand.MethodsCommand.class,
      AnalyzeCommand.PasskCommand.class,
      PortabilityCommand.class,
      AnalyzeCommand.QualityCommand.class,
      SummaryCommand.class,
      AnalyzeCommand.TurnsCommand.class
    })
final class AnalyzeCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns.Output output = new AnalyzedRuns.Output();

  @Override
  public Integer call() {
    return new SummaryCommand(output).call();
  }

  /** {@code kbx analyze efficiency [RUN…]}: how well correct kernels use the device. */
  @Command(
      name = "efficiency",
      description = "Roofline position, share of the device's peak, and memory of correct kernels.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "By category, and by method and model; --json has every kernel. Several runs",
        "are one set of candidates; of several rounds the last one counts."
      })
  static final class EfficiencyCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      DeviceUse use = DeviceUse.of(runs.read());
      runs.print("efficiency", use, use.entered(), () -> EfficiencySection.of(use));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze quality [RUN…]}: complexity against failure, and techniques. */
  @Command(
      name = "quality",
      description = "Complexity of code against failure; techniques attempted and successful.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Complexity of the reference and of the candidate, each against failing calls",
        "and against wrong results. Several runs are one set of candidates; of several",
        "rounds the last one counts."
      })
  static final class QualityCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      CodeQuality quality = CodeQuality.of(runs.read());
      runs.print("quality", quality, quality.entered(), () -> QualitySection.of(quality));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze iterations [RUN…]}: what rounds of refinement gain. */
  @Command(
      name = "iterations",
      description = "What rounds gain: rescued, regressed, solved by round, faster or slower.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "For every method and model with candidates of several rounds. A kernel with",
        "the same source in both rounds is never faster or slower: what its speedup",
        "moves by is noise. Several runs are one set of candidates."
      })
  static final class IterationsCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      SelectedRuns judged = runs.read();
      Iterations iterations = Iterations.of(judged, Terminal.noiseFloors().ofRuns(judged));
      runs.print(
          "iterations", iterations, iterations.entered(), () -> IterationsSection.of(iterations));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze errors [RUN…]}: what goes wrong, and what would have helped. */
  @Command(
      name = "errors",
      description = "What goes wrong, by stage, rule and message, and what would have helped.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Messages about equal mistakes are counted together, with one example. Several",
        "runs are one set of candidates; of several rounds the last one counts."
      })
  static final class ErrorsCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      Causes causes = new Causes();
      SelectedRuns judged = runs.read(causes::add);
      AdvisedErrors errors = AdvisedErrors.of(Errors.of(judged, causes));
      runs.print("errors", errors, errors.errors().entered(), () -> ErrorsSection.of(errors));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze deviance [RUN…]}: which factors explain failure. */
  @Command(
      name = "deviance",
      description = "Which factors explain that candidates fail: category, method, model ...",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Explained deviance of logistic regressions, each factor alone and beyond the",
        "others, for call, correct, general grade, and faster than the baseline.",
        "Several runs are one set of candidates; of several rounds the last one counts."
      })
  static final class DevianceCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Option(
        names = "--factor",
        paramLabel = "NAME",
        split = ",",
        description =
            "Only these factors, alone and together; also conditions of generation, as hardware or"
                + " shots. Default: all but conditions.")
    private List<String> factors = List.of();

    @Override
    public Integer call() {
      Deviance deviance = Deviance.of(runs.read(), factors);
      runs.print("deviance", deviance, deviance.entered(), () -> DevianceSection.of(deviance));
      return ExitCode.OK;
    }
  }

  /** At which numbers of samples pass@k is worked out. */
  static final class Samples {
    @Option(
        names = "--k",
        paramLabel = "K",
        split = ",",
        converter = Values.Count.class,
        description =
            "Samples of pass@k. Default: 1, 5 and 10 as far as a task has so many, and the most"
                + " that one has.")
    private List<Integer> ks = List.of();

    List<Integer> of(List<VerdictRow> rows) {
      return ks.isEmpty() ? SampleCounts.of(rows) : ks.stream().distinct().sorted().toList();
    }
  }

  /** {@code kbx analyze methods [RUN…]}: methods and models side by side. */
  @Command(
      name = "methods",
      description = "Methods and models side by side: rates by category, tests, who solves what.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Rates are of the tasks that each tried. Pairs are compared on the same tasks",
        "by the share of a task's samples that pass: an exact permutation test,",
        "McNemar's with one sample a task. Several runs are one set of candidates; of",
        "several rounds the last one counts."
      })
  static final class MethodsCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Mixin private Samples samples = new Samples();

    @Option(
        names = "--p",
        paramLabel = "P",
        split = ",",
        defaultValue = "1,2",
        converter = Values.Positive.class,
        description = "Speedups of fast_p@k. Default: ${DEFAULT-VALUE}.")
    private List<Double> ps = List.of();

    @Override
    public Integer call() {
      SelectedRuns judged = runs.read();
      Methods methods =
          Methods.of(judged, samples.of(judged.rows()), ps.stream().distinct().sorted().toList());
      runs.print("methods", methods, methods.entered(), () -> MethodsSection.of(methods));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze budget [RUN…]}: what methods solve within a budget. */
  @Command(
      name = "budget",
      description =
          "Share of tasks that methods solve within a budget of turns, calls, tokens or money.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "For runs of 'kbx run', from their ledgers: learning curves. Methods and models",
        "are shown apart, at equal budgets for each task. A turn is a kernel that was",
        "judged for feedback."
      })
  static final class BudgetCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      List<Curves> all =
          runs.found().stream()
              .map(found -> new Curves(found.judged().run().id(), curves(found)))
              .toList();
      runs.print(
          Map.of("kind", "budget", "runs", all),
          () ->
              Document.ofAlike(
                  "What methods solve within a budget",
                  all.stream().map(BudgetSection::of).toList()));
      return ExitCode.OK;
    }

    private static List<BudgetCurve> curves(NamedRun.Found found) {
      return BudgetCurve.of(Ledgers.rows(ledger(found), found.judged().rows()));
    }
  }

  private static Path ledger(NamedRun.Found found) {
    Path ledger = Ledgers.file(found.folder(), found.judged().run().id());
    if (Files.exists(ledger)) return ledger;
    throw new InputException(
        "%s: no such ledger, so it is not a run of methods; name one of 'kbx run'"
            .formatted(ledger));
  }

  /** {@code kbx analyze turns [RUN…]}: what turns of methods cost and bring. */
  @Command(
      name = "turns",
      description = "Of methods: cost of a solved task, turns to the first correct, and feedback.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "For runs of 'kbx run', from their ledgers. Trajectories that are never correct",
        "count up to their last turn (Kaplan and Meier). Feedback: which status was",
        "followed by which, and how much of the source changed. Learning curves by",
        "turns, calls and cost: 'kbx analyze budget'."
      })
  static final class TurnsCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Override
    public Integer call() {
      List<Turns> all = runs.found().stream().map(TurnsCommand::turns).toList();
      runs.print(
          Map.of("kind", "turns", "runs", all),
          () ->
              Document.ofAlike(
                  "What turns cost and bring", all.stream().map(TurnsSection::of).toList()));
      return ExitCode.OK;
    }

    private static Turns turns(NamedRun.Found found) {
      Path ledger = ledger(found);
      return Turns.of(
          found.judged().run().id(),
          Ledgers.rows(ledger, found.judged().rows()),
          Ledgers.followed(ledger));
    }
  }

  /** {@code kbx analyze fastp [RUN…]}: how many tasks are solved, and how fast. */
  @Command(
      name = "fastp",
      description = "The share of tasks with a correct kernel more than p times as fast (fast_p).",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Out of the tasks that were tried, one candidate a task: the first",
        "sample. Against every baseline that the verdicts hold, and the best of",
        "several. Candidates of several methods, models or rounds in one run are shown",
        "apart."
      })
  static final class FastpCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Option(
        names = "--best",
        description =
            "Take each task's best sample, the fastest correct one, in place of the first.")
    private boolean best;

    @Override
    public Integer call() {
      FastP.Pick pick = best ? FastP.Pick.BEST_SAMPLE : FastP.Pick.FIRST_SAMPLE;
      List<FastP> all = new ArrayList<>();
      for (JudgedRun run : runs.each()) {
        all.addAll(FastP.of(run, SuiteSelection.of(run, Home.here().selected(run.run())), pick));
      }
      runs.print(
          Map.of("kind", "fastp", "series", all),
          () ->
              Document.ofAlike(
                  "How many tasks are solved, and how fast",
                  all.stream().map(FastPSection::of).toList()));
      return ExitCode.OK;
    }
  }

  /** {@code kbx analyze passk [RUN…]}: pass@k of the samples of each task. */
  @Command(
      name = "passk",
      description = "The chance that one of k samples passes (pass@k), or all of them (pass^k).",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "called, correct, and fast: correct and faster than eager. A task enters with",
        "at least k judged samples; k is never made smaller. Candidates of several",
        "methods, models or rounds in one run are shown apart."
      })
  static final class PasskCommand implements Callable<Integer> {
    @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

    @Mixin private Samples samples = new Samples();

    @Override
    public Integer call() {
      List<PassK> all = new ArrayList<>();
      for (JudgedRun run : runs.each()) {
        List<Integer> wanted = samples.of(run.rows());
        all.addAll(PassK.of(run, SuiteSelection.of(run, Home.here().selected(run.run())), wanted));
      }
      runs.print(
          Map.of("kind", "passk", "series", all),
          () ->
              Document.ofAlike(
                  "What several samples solve", all.stream().map(PassKSection::of).toList()));
      return ExitCode.OK;
    }
  }
}
