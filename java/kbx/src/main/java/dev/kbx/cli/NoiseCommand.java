package dev.kbx.cli;

import dev.kbx.analysis.NoiseReport;
import dev.kbx.app.FolderLock;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.NoiseFloors;
import dev.kbx.app.Reason;
import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.error.InputException;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.report.NoiseFile;
import dev.kbx.section.NoiseSection;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code kbx bench noise}: measures the smallest difference in speed that this machine can tell.
 */
@Command(
    name = "noise",
    description = {
      "How small a difference in speed this machine can tell.",
      "Times references as if they were candidates, and a kernel against a twin that",
      "moves 3 %% more bytes."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Needs a GPU. Under --out: noise.json, the figures and every measurement. The",
      "floor is kept for the device if 20 sizes of 50 us or more were timed. With",
      "--cluster each device gets a share of the references. If interrupted, it",
      "prints and writes the results so far, and keeps no floor."
    })
final class NoiseCommand implements Callable<Integer> {
  private static final String SUITE = "kernelbenchx";
  private static final int TWINS = 5;

  @Option(
      names = "--tasks",
      paramLabel = "GLOB",
      defaultValue = "*",
      description = "Only these tasks: names or Category/name, with * and ?, separated by commas.")
  private String tasks = "*";

  @Option(
      names = "--repeats",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Times each reference is judged, each in a new process. Default: ${DEFAULT-VALUE}.")
  private int repeats = 1;

  @Option(
      names = "--twins",
      paramLabel = "N",
      description =
          "Times the kernel and its twin are judged, at four sizes each. Default: 5; none with"
              + " --cluster, where they may be on two GPUs.")
  private @Nullable Integer asked;

  @Mixin private Options.OutFolder out = new Options.OutFolder();
  @Mixin private Options.Workers workers = new Options.Workers();

  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Override
  public Integer call() throws InterruptedException {
    workers.check();
    boolean local = cluster.cluster().isEmpty();
    if (!local && asked != null) {
      throw new InputException("--twins: a cluster may judge the two on two GPUs; leave it away");
    }
    int twins = asked != null ? asked : local ? TWINS : 0;
    if (repeats < 0 || twins < 0 || repeats + twins == 0) {
      throw new InputException(
          "--repeats %d --twins %d: nothing to time".formatted(repeats, twins));
    }
    if (local) {
      needGpu(workers.settings().slots().getFirst().kind().label());
    }
    List<Candidate> references =
        NoiseCandidates.references(Home.here().suite(SUITE).find(tasks), repeats);
    Path folder = out.writable();
    NoiseReport report;
    try (var _ = FolderLock.of(folder)) {
      report = measure(references, twins, folder);
    } catch (IOException e) {
      throw new InputException(
          "--out %s: cannot write there: %s".formatted(folder, Reason.of(e)), e);
    }
    if (report.rows().isEmpty() && report.twins() == null) {
      throw new InputException(
          "no size was timed: "
              + report.untimed().stream().findFirst().orElse("no twins were on one GPU"));
    }
    NoiseFloors floors = Terminal.noiseFloors();
    for (NoiseFloor floor : report.floors()) {
      floors.keep(floor).ifPresent(file -> System.out.println("kept in " + file));
    }
    return ExitCode.OK;
  }

  private static void needGpu(String kind) {
    if (!kind.equals(DeviceSlot.Kind.CUDA.label())) {
      throw new InputException("bench noise: no GPU is used, so there is nothing to time");
    }
  }

  private NoiseReport measure(List<Candidate> references, int twins, Path folder)
      throws InterruptedException {
    Plan plan =
        new Plan(
            List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
            Rules.all(),
            Plan.ARCH,
            Home.here().secret(),
            Limits.defaults());
    List<Candidate> all = new ArrayList<>(references);
    // Alternately, so that both twins run under the same conditions.
    List<Candidate> plain = NoiseCandidates.plain(twins);
    List<Candidate> slowed = NoiseCandidates.slowed(twins);
    for (int i = 0; i < twins; i++) all.addAll(List.of(plain.get(i), slowed.get(i)));
    try (Interrupts interrupts = new Interrupts("interrupted; nothing was kept");
        JudgingPool pool = JudgingPool.start(workers.settings(cluster), List.of(), plan)) {
      needGpu(pool.device().kind());
      List<Verdict> heard = new CopyOnWriteArrayList<>();
      try {
        NoiseReport report = report(pool, pool.repeat(plan, all, heard::add));
        print(report, folder);
        return report;
      } catch (InterruptedException e) {
        if (!heard.isEmpty()) {
          print(report(pool, heard).cutOff(all.size() - heard.size()), folder);
          interrupts.advise("interrupted; what was measured is in " + folder + "/noise.json");
        }
        throw e;
      }
    }
  }

  private static NoiseReport report(JudgingPool pool, List<Verdict> verdicts) {
    return NoiseReport.of(
        pool.versions(),
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        verdicts.stream().filter(v -> v.provenance().suite().equals(SUITE)).toList(),
        verdicts.stream().filter(NoiseCandidates::isPlain).toList(),
        verdicts.stream().filter(NoiseCandidates::isSlowed).toList());
  }

  private static void print(NoiseReport report, Path folder) {
    NoiseFile.write(report, folder);
    System.out.print(Terminal.text(NoiseSection.of(report)));
  }
}
