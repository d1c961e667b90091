package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Reading;
import dev.kbx.check.Rules;
import dev.kbx.corpus.Trial;
import dev.kbx.python.PythonProblem;
import dev.kbx.report.Throughput;
import dev.kbx.run.Limits;
import dev.kbx.run.Plan;
import dev.kbx.run.Repeats;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx bench throughput SOURCE…}: candidates a device-hour, and where every second went. */
@Command(
    name = "throughput",
    description = {
      "Candidates a device-hour, and where the time goes.",
      "Judges candidates, none of them from memory."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "With --jobs 1 also what one candidate takes that is submitted alone."})
final class ThroughputCommand implements Callable<Integer> {
  private static final String SUITE = "kernelbenchx";

  @Parameters(
      paramLabel = "SOURCE",
      arity = "0..*",
      description =
          "Files or folders, as for eval. Default: examples/honest, kernels of the suite.")
  private List<Path> sources = List.of();

  @Option(names = "--json", description = "One object with every figure.")
  private boolean json;

  @Mixin private WorkerOptions workers = new WorkerOptions();

  @Override
  public Integer call() throws InterruptedException, PythonProblem {
    Suite suite = Suites.open(SUITE, Home.tasks());
    List<Candidate> candidates = candidates(suite);
    Plan plan =
        new Plan(
            List.of(Stage.values()),
            Rules.all(),
            VerifyCommand.ARCH,
            Home.secret(),
            Limits.defaults());
    Throughput found = measure(plan, candidates);
    System.out.print(
        json
            ? Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(found) + "\n"
            : found.render());
    return ExitCode.OK;
  }

  private List<Candidate> candidates(Suite suite) {
    if (sources.isEmpty()) {
      return new CorpusFiles(suite)
          .bundled(1).stream()
              .filter(entry -> entry.specimen().kind() != Trial.Kind.CHEAT)
              .map(CorpusFiles.Entry::candidate)
              .toList();
    }
    Reading reading = CandidateSources.read(sources, suite, suite.tasks());
    reading.problems().forEach(problem -> System.err.println("kbx: " + problem));
    if (reading.candidates().isEmpty())
      throw new UserError(
          "nothing to judge in "
              + String.join(", ", sources.stream().map(Path::toString).toList()));
    return reading.candidates();
  }

  private Throughput measure(Plan plan, List<Candidate> candidates)
      throws InterruptedException, PythonProblem {
    long start = System.nanoTime();
    try (var _ = new Interrupts("interrupted; nothing was measured");
        WorkerPool pool = WorkerPool.start(workers, plan)) {
      List<Verdict> verdicts = new ArrayList<>();
      List<Double> fell = new ArrayList<>();
      Progress progress =
          new Progress(
              System.err, Terminal.interactive(), Terminal.columns(), candidates.size(), 0);
      try {
        new Repeats(pool.slots(), plan, pool.device(), pool.versions())
            .judge(
                candidates,
                verdict -> {
                  verdicts.add(verdict);
                  fell.add((System.nanoTime() - start) / 1e9);
                  progress.verdict(verdict, false);
                });
      } finally {
        progress.finish();
      }
      int devices =
          (int) pool.slots().stream().map(slot -> slot.device().index()).distinct().count();
      boolean gpu = !pool.device().kind().equals("cpu");
      return Throughput.of(
          pool.device(),
          pool.versions(),
          gpu ? devices : 1,
          Math.min(pool.slots().size(), candidates.size()),
          verdicts,
          fell.stream().mapToDouble(Double::doubleValue).toArray(),
          pool.spending());
    }
  }
}
