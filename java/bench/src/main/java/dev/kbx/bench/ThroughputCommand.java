package dev.kbx.bench;

import dev.kbx.analysis.Throughput;
import dev.kbx.app.Home;
import dev.kbx.app.WorkerPool;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Reading;
import dev.kbx.check.Rules;
import dev.kbx.cli.Benchmark;
import dev.kbx.cli.ExitCode;
import dev.kbx.cli.Interrupts;
import dev.kbx.cli.Options;
import dev.kbx.cli.Terminal;
import dev.kbx.error.InputException;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.section.ThroughputSection;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kbx bench throughput SOURCE…}: candidates per device-hour, and where the time goes. */
@Command(
    name = "throughput",
    description = {
      "Candidates a device-hour, and where the time goes.",
      "Judges every candidate, without reusing earlier judgements."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "With --jobs 1 also what one candidate takes that is submitted alone."})
public final class ThroughputCommand implements Benchmark {
  private static final String SUITE = "kernelbenchx";

  @Parameters(
      paramLabel = "SOURCE",
      arity = "0..*",
      description = "Files or folders, as for eval. Default: corpus/honest, kernels of the suite.")
  private List<Path> sources = List.of();

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Mixin private Options.Workers workers = new Options.Workers();

  @Override
  public Integer call() throws InterruptedException {
    workers.check();
    Suite suite = Home.here().suite(SUITE);
    List<Candidate> candidates = candidates(suite);
    Plan plan =
        new Plan(
            List.of(Stage.values()),
            Rules.all(),
            Plan.ARCH,
            Home.here().secret(),
            Limits.defaults());
    print(measure(plan, candidates));
    return ExitCode.OK;
  }

  private void print(Throughput found) {
    if (json.isAsked()) Options.JsonFlag.print(found);
    else System.out.print(Terminal.text(ThroughputSection.of(found)));
    System.out.flush();
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
      throw new InputException(
          "nothing to judge in "
              + String.join(", ", sources.stream().map(Path::toString).toList()));
    return reading.candidates();
  }

  private Throughput measure(Plan plan, List<Candidate> candidates) throws InterruptedException {
    long start = System.nanoTime();
    List<Throughput.Judged> judged = new CopyOnWriteArrayList<>();
    try (Interrupts interrupts = new Interrupts("interrupted; nothing was measured");
        WorkerPool pool = WorkerPool.start(workers.settings(), plan)) {
      try {
        var _ =
            pool.repeat(
                plan,
                candidates,
                verdict -> judged.add(judged(verdict, (System.nanoTime() - start) / 1e9)));
      } catch (InterruptedException e) {
        List<Throughput.Judged> known = List.copyOf(judged);
        if (!known.isEmpty()) {
          int missing = candidates.size() - known.size();
          print(figures(pool, candidates.size(), known).cutOff(missing));
          interrupts.advise("interrupted; the figures are those of what was judged");
        }
        throw e;
      }
      return figures(pool, candidates.size(), judged);
    }
  }

  private static Throughput.Judged judged(Verdict verdict, double seconds) {
    return new Throughput.Judged(
        verdict.judgement().status(), verdict.judgement().seconds(), seconds);
  }

  private static Throughput figures(
      WorkerPool pool, int candidates, List<Throughput.Judged> judged) {
    int devices = (int) pool.places().stream().map(DeviceSlot::index).distinct().count();
    boolean gpu = !pool.device().onCpu();
    return Throughput.of(
        pool.device(),
        pool.versions(),
        gpu ? devices : 1,
        Math.min(pool.places().size(), candidates),
        judged,
        pool.spending());
  }
}
