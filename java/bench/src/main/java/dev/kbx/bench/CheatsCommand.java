package dev.kbx.bench;

import dev.kbx.app.FolderLock;
import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.WorkerPool;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.SuiteMark;
import dev.kbx.check.Rules;
import dev.kbx.check.StaticCheck;
import dev.kbx.check.StaticReport;
import dev.kbx.cli.Benchmark;
import dev.kbx.cli.ExitCode;
import dev.kbx.cli.Interrupts;
import dev.kbx.cli.Options;
import dev.kbx.cli.Terminal;
import dev.kbx.error.InputException;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Policy;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx bench cheats}: judges the bundled cheats and honest kernels. */
@Command(
    name = "cheats",
    description = {
      "Whether any bundled cheat gets through, or any honest kernel is turned away.",
      "Judges them by static rules alone, and with static rules off. Exit code 1",
      "when one does not end as its header says."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Under --out: cheats.json, a row a file. The same command continues where an",
      "interrupted one stopped."
    })
public final class CheatsCommand implements Benchmark {
  /** Runs on GPUs, whole and up to the correctness stage. */
  private static final List<String> KEPT =
      List.of("cheats-gpu.json", "cheats-gpu-correctness.json");

  private static final List<String> SUITES = List.of("kernelbenchx", "kernelbench");

  @Parameters(
      paramLabel = "PATH",
      arity = "0..*",
      description =
          "Only these files or folders with such headers. Default: cheats and honest in"
              + " corpus and corpus/kernelbench, kernels of the suite.")
  private List<Path> paths = List.of();

  @Option(
      names = "--every",
      paramLabel = "N",
      defaultValue = "4",
      description = "Every N-th of the suite's kernels; 1 for all. Default: ${DEFAULT-VALUE}.")
  private int every = 4;

  @Option(names = "--static-only", description = "Static rules only; run nothing.")
  private boolean staticOnly;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description =
          "Time limit for one call of an entry point, without compiling and waiting for a"
              + " processor. Default: ${DEFAULT-VALUE}.")
  private int timeout = 20;

  @Mixin private Options.OutFolder out = new Options.OutFolder();

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Write the page docs/cheats.md, from this run and those kept in bench/.")
  private @Nullable Path page;

  /** The name that it had. */
  @Option(names = "--page", hidden = true)
  void page(Path given) {
    page = given;
  }

  @Mixin private Options.GradeChoice grade = new Options.GradeChoice();
  @Mixin private Options.Seed seed = new Options.Seed();
  @Mixin private Options.Workers workers = new Options.Workers();

  @Override
  public Integer call() throws InterruptedException {
    if (timeout < 1) throw new InputException("--timeout %d: at least 1 second".formatted(timeout));
    if (every < 1) throw new InputException("--every %d: at least 1".formatted(every));
    if (page != null) checkPage(page);
    workers.check(stages());
    StoreAddress address = ResultsFolder.ownStore(out.path()).store();
    address.check();
    List<CorpusFiles.Entry> entries = entries();
    Path folder = out.writable();
    Trials trials;
    try (var _ = FolderLock.of(folder)) {
      trials = judge(entries, address);
      trials.write(folder);
    } catch (java.io.IOException e) {
      throw new InputException(
          "--out %s: cannot write there: %s".formatted(folder, Reason.of(e)), e);
    }
    if (page != null) {
      Path bench = Home.here().folder().resolve("bench");
      List<Path> kept = KEPT.stream().map(bench::resolve).toList();
      CheatPage.write(page, trials, kept, endingsOnGpu(entries));
    }
    System.out.print(Terminal.text(CheatTable.of(trials)));
    CheatTable.lines(trials).forEach(System.out::println);
    return trials.differing().isEmpty() ? ExitCode.OK : ExitCode.USAGE;
  }

  /** Checks that the page can be written, before hundreds of files are judged. */
  private static void checkPage(Path page) {
    Path folder = page.toAbsolutePath().getParent();
    if (Files.isDirectory(page)) {
      throw new InputException("--output %s: is a folder; name a file".formatted(page));
    }
    if (Files.exists(page) && !Files.isWritable(page)) {
      throw new InputException(
          "--output %s: no permission to write it; name another".formatted(page));
    }
    if (folder == null || !Files.isWritable(folder)) {
      throw new InputException("--output %s: %s cannot be written".formatted(page, folder));
    }
  }

  private List<CorpusFiles.Entry> entries() {
    List<CorpusFiles.Entry> entries = new ArrayList<>();
    for (String name : SUITES) {
      List<Path> own = paths.stream().filter(path -> suite(path).equals(name)).toList();
      if (!paths.isEmpty() && own.isEmpty()) continue;
      CorpusFiles files = new CorpusFiles(Home.here().suite(name));
      entries.addAll(paths.isEmpty() ? files.bundled(every) : files.read(own));
    }
    return entries;
  }

  private static String suite(Path path) {
    return SuiteMark.near(path).filter(SUITES::contains).orElse(SUITES.getFirst());
  }

  private List<Stage> stages() {
    return staticOnly ? List.of(Stage.STATIC) : List.of(Stage.CALL, Stage.CORRECT, Stage.PERF);
  }

  private Trials judge(List<CorpusFiles.Entry> entries, StoreAddress address)
      throws InterruptedException {
    Plan plan =
        new Plan(
            stages(),
            Rules.all(),
            Plan.ARCH,
            seed.seed(),
            Limits.of(Duration.ofSeconds(timeout)),
            grade.grade());
    try (Interrupts interrupts = new Interrupts("interrupted; nothing was judged yet");
        WorkerPool pool = WorkerPool.start(workers.settings(), plan)) {
      interrupts.advise("interrupted; the same command goes on where this stopped");
      Map<Integer, Verdict> verdicts = staticOnly ? Map.of() : run(plan, pool, entries, address);
      return new Trials(pool.device(), pool.versions(), compare(entries, verdicts));
    }
  }

  private static List<Trial> compare(
      List<CorpusFiles.Entry> entries, Map<Integer, Verdict> verdicts) {
    List<Trial> trials = new ArrayList<>();
    for (int i = 0; i < entries.size(); i++) {
      CorpusFiles.Entry entry = entries.get(i);
      StaticCheck check = new StaticCheck(Rules.all(), entry.policy(), SyntaxCheck.PARSER);
      StaticReport report = check.check(entry.candidate());
      trials.add(entry.specimen().judged(report, verdicts.get(i)));
    }
    return trials;
  }

  /** How the cheats must end on a GPU, by path. */
  private static Map<String, Header.Ending> endingsOnGpu(List<CorpusFiles.Entry> entries) {
    return entries.stream()
        .map(CorpusFiles.Entry::specimen)
        .filter(specimen -> specimen.kind() == Trial.Kind.CHEAT)
        .collect(Collectors.toMap(Specimen::source, Specimen::onGpu));
  }

  /** Verdicts by the position of their entry: a run for each policy that headers ask for. */
  private static Map<Integer, Verdict> run(
      Plan plan, WorkerPool pool, List<CorpusFiles.Entry> entries, StoreAddress address)
      throws InterruptedException {
    Map<Optional<Policy>, List<Integer>> positions =
        IntStream.range(0, entries.size())
            .boxed()
            .collect(
                Collectors.groupingBy(
                    i -> entries.get(i).policy(), LinkedHashMap::new, Collectors.toList()));
    Map<Integer, Verdict> all = new HashMap<>();
    try (RunStore store = RunStore.open(address)) {
      for (var group : positions.entrySet()) {
        List<Integer> places = group.getValue();
        List<Candidate> candidates = places.stream().map(i -> entries.get(i).candidate()).toList();
        run(plan.at(group.getKey()), pool, candidates, store)
            .forEach((i, verdict) -> all.put(places.get(i), verdict));
      }
    }
    return all;
  }

  private static Map<Integer, Verdict> run(
      Plan plan, WorkerPool pool, List<Candidate> candidates, RunStore store)
      throws InterruptedException {
    RunInfo run =
        new RunInfo(
            ResultsFolder.nextRun(),
            Instant.now(),
            null,
            List.of("corpus"),
            String.join(",", SUITES),
            "*",
            plan.stages(),
            List.of(),
            pool.device(),
            pool.versions(),
            candidates.size(),
            0,
            plan.against(),
            plan.tolerance().label(),
            plan.grade().label(),
            plan.precision().label(),
            plan.policies(candidates.stream().map(Candidate::task).toList()),
            plan.publishedAccounting(),
            RunService.settings(plan, candidates),
            null,
            null,
            null);
    store.begin(run);
    pool.judge(store, plan, run, candidates, _ -> {});
    store.finish(run.finishedAt(Instant.now()));
    return store.verdicts(run.id());
  }
}
