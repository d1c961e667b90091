package dev.kbx.bench;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.cli.Benchmark;
import dev.kbx.cli.ExitCode;
import dev.kbx.cli.Options;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.files.Folders;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kbx bench referee}: measures the cost of judging without the workers. */
@Command(
    name = "referee",
    description = {
      "What kbx itself costs: verdicts a second, memory, time to resume.",
      "Judges generated candidates with workers that immediately answer correct, kills",
      "the run half-way, and resumes it."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Needs no GPU. Under --out: candidates.jsonl and the run, in place of what was",
      "there."
    })
public final class RefereeCommand implements Benchmark {
  private static final String SUITE = "kernelbenchx";

  /** {@code GC(7) Pause Young (Allocation Failure) 101M->33M(309M) 12.345ms}. */
  private static final Pattern COLLECTION =
      Pattern.compile("Pause .* \\d+M->(\\d+)M\\(\\d+M\\) ([\\d.]+)ms");

  private static final Pattern SOURCE = Pattern.compile("\"source\":\"([^\"]*)\"");

  @Option(
      names = "--devices",
      paramLabel = "N",
      defaultValue = "8",
      description = "Candidates judged at the same time. Default: ${DEFAULT-VALUE}.")
  private int devices = 8;

  @Option(
      names = "--candidates",
      paramLabel = "N",
      defaultValue = "100000",
      description = "Default: ${DEFAULT-VALUE}.")
  private int candidates = 100_000;

  @Option(
      names = "--stages",
      paramLabel = "LIST",
      defaultValue = "static,call,correct",
      description = "As of kbx eval. Default: ${DEFAULT-VALUE}.")
  private String stages = "static,call,correct";

  @Option(
      names = "--python",
      paramLabel = "EXE",
      description = "As of kbx eval; the workers need neither torch nor triton.")
  private @Nullable Path python;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "kbx-referee",
      description = "Results folder. Default: ${DEFAULT-VALUE}.")
  private Path out = Path.of("kbx-referee");

  @Override
  public Integer call() throws InterruptedException {
    if (devices < 1) throw new InputException("--devices %d: at least 1".formatted(devices));
    if (candidates < 4)
      throw new InputException("--candidates %d: at least 4".formatted(candidates));
    Options.stages(List.of(stages.split(",", -1)));
    Path simulated = Home.here().folder().resolve("bench/simulated");
    if (!Files.isDirectory(simulated)) {
      throw new InputException(simulated + " is missing; it has the workers that this runs with");
    }
    Options.Workers.check(python);
    Path folder = ResultsFolder.writable(out);
    try {
      return measure(simulated, folder);
    } catch (IOException e) {
      throw new InputException("--out %s: %s".formatted(folder, Reason.of(e)), e);
    }
  }

  private int measure(Path simulated, Path folder) throws IOException, InterruptedException {
    Path file = folder.resolve("candidates.jsonl");
    Path run = folder.resolve("run");
    Path firstLog = folder.resolve("gc-first.log");
    if ((Files.exists(file) || Files.exists(run)) && !Files.exists(firstLog)) {
      throw new InputException(
          "--out %s: has a %s that this command did not make and would replace; name another folder"
              .formatted(folder, (Files.exists(run) ? run : file).getFileName()));
    }
    Folders.delete(run);
    SimulatedCandidates.write(file, Home.here().suite(SUITE), candidates);
    Path secondLog = folder.resolve("gc-resumed.log");
    Path stdout = folder.resolve("stdout.txt");
    EvalProcess.Seen first =
        EvalProcess.start(simulated, firstLog, arguments(file, run), stdout, System.err)
            .watch(candidates / 2);
    if (first.verdicts() != candidates / 2) return endedEarly();
    EvalProcess process =
        EvalProcess.start(simulated, secondLog, arguments(file, run), stdout, System.err);
    EvalProcess.Seen second = process.watch(-1);
    if (process.exit() != ExitCode.OK) return endedEarly();
    print(first, second, Files.size(file), run, List.of(firstLog, secondLog));
    return ExitCode.OK;
  }

  private static int endedEarly() {
    System.err.println("kbx: a run exited early; its output is above");
    return ExitCode.INCOMPLETE;
  }

  private List<String> arguments(Path file, Path run) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "eval",
                file.toString(),
                "--device",
                "cpu",
                "--jobs",
                Integer.toString(devices),
                "--stages",
                stages,
                "--out",
                run.toString(),
                "--resume"));
    if (python != null) arguments.addAll(List.of("--python", python.toString()));
    return arguments;
  }

  private void print(
      EvalProcess.Seen first, EvalProcess.Seen second, long bytes, Path run, List<Path> logs)
      throws IOException {
    PrintStream out = System.out;
    int verdicts = first.verdicts() + second.verdicts();
    double judging = first.last() - first.first() + second.last() - second.first();
    double cpu = first.figures().cpuSeconds() + second.figures().cpuSeconds();
    List<String> judged = sources(run.resolve("results.jsonl"));
    Set<String> distinct = new HashSet<>(judged);
    out.printf(
        "kbx %s, %s, %s, %,d candidates of %.1f kB, stages %s%n",
        Home.version(),
        Counted.of(Runtime.getRuntime().availableProcessors(), "processor"),
        Counted.of(devices, "simulated device"),
        candidates,
        bytes / 1e3 / candidates,
        stages);
    figure(out, "start to first verdict, all read and queued", first.first(), "s");
    figure(out, "verdicts a second until the kill", first.rate(), "");
    figure(out, "resume, from start to first new verdict", second.first(), "s");
    figure(out, "verdicts a second after it", second.rate(), "");
    figure(out, "verdicts a second, both", (verdicts - 2) / judging, "");
    figure(out, "last verdict to exit, result files written", second.end() - second.last(), "s");
    figure(out, "processor time of the JVM a verdict", 1e3 * cpu / verdicts, "ms");
    figure(out, "JVM, peak resident", first.figures().and(second.figures()).peakMegabytes(), "MB");
    Collections collections = Collections.of(logs);
    figure(out, "heap after a collection, at most", collections.mostMegabytes(), "MB");
    figure(out, "collections, all together", collections.seconds(), "s");
    figure(out, "verdicts lost", candidates - distinct.size(), "");
    figure(out, "verdicts given twice", judged.size() - distinct.size(), "");
  }

  private static void figure(PrintStream out, String name, double value, String unit) {
    String pattern =
        value == Math.rint(value) || value >= 100 ? "%-46s%10.0f %s" : "%-46s%10.2f %s";
    out.println(String.format(Locale.ROOT, pattern, name, value, unit).stripTrailing());
  }

  private static List<String> sources(Path results) throws IOException {
    try (Stream<String> lines = Files.lines(results)) {
      return lines.map(SOURCE::matcher).filter(Matcher::find).map(m -> m.group(1)).toList();
    }
  }

  /**
   * Garbage collection, from the collector's log.
   *
   * @param mostMegabytes maximum heap in use after a collection, MiB
   */
  private record Collections(double mostMegabytes, double seconds) {
    static Collections of(List<Path> logs) throws IOException {
      double most = 0;
      double milliseconds = 0;
      for (Path log : logs) {
        for (String line : Files.readAllLines(log)) {
          Matcher pause = COLLECTION.matcher(line);
          if (!pause.find()) continue;
          most = Math.max(most, Double.parseDouble(pause.group(1)));
          milliseconds += Double.parseDouble(pause.group(2));
        }
      }
      return new Collections(most, milliseconds / 1e3);
    }
  }

  /** A large file of predictions: variations of the suite's kernels. */
  private static final class SimulatedCandidates {
    private SimulatedCandidates() {}

    /** Writes a file with {@code count} rows, all with different sources. */
    static void write(Path file, Suite suite, int count) throws IOException {
      List<Task> tasks =
          suite.tasks().stream().filter(task -> Files.exists(task.kernel())).toList();
      if (tasks.isEmpty()) throw new InputException(suite.name() + " has no kernels to vary");
      Map<Task, String> kernels = new LinkedHashMap<>();
      for (Task task : tasks) kernels.put(task, Files.readString(task.kernel()));
      try (BufferedWriter out = Files.newBufferedWriter(file)) {
        for (int i = 0; i < count; i++) {
          Task task = tasks.get(i % tasks.size());
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("file", task.path() + ".py");
          row.put("sample", i / tasks.size());
          row.put("predict", kernels.get(task) + "\n\nVARIANT = " + i + "\n");
          out.write(Json.mapper().writeValueAsString(row));
          out.newLine();
        }
      }
    }
  }
}
