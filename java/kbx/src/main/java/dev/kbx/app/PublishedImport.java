package dev.kbx.app;

import dev.kbx.candidate.Problem;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.published.PublishedFormat;
import dev.kbx.published.PublishedOutcome;
import dev.kbx.published.PublishedReading;
import dev.kbx.published.PublishedResult;
import dev.kbx.report.LatestRun;
import dev.kbx.report.ResultFiles;
import dev.kbx.store.RunStore;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Speedup;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Stores published results as runs, one for each device. */
public final class PublishedImport {
  /** The file of a run's kernels, which {@code kbx eval} judges. */
  public static final String KERNELS = "predictions.jsonl";

  /** What a published result may be about. */
  private static final List<Stage> STAGES = List.of(Stage.CALL, Stage.CORRECT, Stage.PERF);

  private final RunStore store;
  private final Path folder;
  private final PublishedFormat format;
  private final Path source;
  private final RunLabel label;
  private final @Nullable Suite suite;

  /**
   * What is imported, and where the runs go.
   *
   * @param suite name or folder of the suite that the tasks are of; null for the format's own
   * @param given what the files do not say
   * @param label of the runs
   */
  public record Request(
      PublishedFormat format,
      Path source,
      @Nullable String suite,
      PublishedFormat.Given given,
      ResultsFolder results,
      RunLabel label) {}

  /** What was read, what was wrong with it, and the runs that it became: one at least. */
  public record Imported(PublishedReading reading, List<String> problems, List<RunInfo> runs) {}

  /**
   * Reads published results and stores them.
   *
   * @throws InputException if they state no outcome, or their format has no such suite
   */
  public static Imported run(Home home, Request request, Observer observer) throws IOException {
    PublishedFormat format = request.format();
    if (format.suite() == null && request.suite() != null) {
      throw new InputException(
          "--suite: kbx has no tasks for %s; leave it away".formatted(format.label()));
    }
    String named = request.suite() == null ? format.suite() : request.suite();
    Suite suite = named == null ? null : home.suite(named);
    PublishedReading reading = format.read(request.source(), suite, request.given());
    List<String> problems = reading.problems().stream().map(Problem::toString).toList();
    refuseNothing(request, reading, problems, observer);
    observer.problems(problems);
    ResultsFolder results = request.results();
    results.store().check();
    Path folder = results.writable();
    try (var _ = FolderLock.of(folder);
        RunStore store = RunStore.open(results.store())) {
      PublishedImport imported = new PublishedImport(store, folder, request, suite);
      return new Imported(reading, problems, imported.write(reading, problems));
    }
  }

  private static void refuseNothing(
      Request request, PublishedReading reading, List<String> problems, Observer observer) {
    if (!reading.stated().isEmpty()) return;
    if (problems.size() == 1) throw new InputException(problems.getFirst());
    observer.problems(problems);
    if (reading.results().isEmpty()) {
      throw new InputException(
          "%s: has no result in the format %s"
              .formatted(request.source(), request.format().label()));
    }
    throw new InputException(
        "%s: states no outcome for any of its %s, so nothing is published there to import; 'kbx eval' judges the kernels"
            .formatted(request.source(), Counted.of(reading.results().size(), "record")));
  }

  private PublishedImport(RunStore store, Path folder, Request request, @Nullable Suite suite) {
    this.store = store;
    this.folder = folder;
    this.format = request.format();
    this.source = request.source();
    this.label = request.label();
    this.suite = suite;
  }

  /** Writes all runs, in the order in which their devices are named first. */
  private List<RunInfo> write(PublishedReading reading, List<String> problems) {
    Map<Device, List<PublishedResult>> devices = new LinkedHashMap<>();
    for (PublishedResult result : reading.stated()) {
      devices
          .computeIfAbsent(Device.published(result.hardware()), _ -> new ArrayList<>())
          .add(result);
    }
    List<RunInfo> runs = new ArrayList<>();
    devices.forEach((device, results) -> runs.add(write(device, results, reading, problems)));
    return runs;
  }

  private RunInfo write(
      Device device,
      List<PublishedResult> results,
      PublishedReading reading,
      List<String> problems) {
    RunInfo run = run(device, results, reading);
    store.begin(run);
    FolderLock.judges(folder, run.id());
    LatestRun latest = new LatestRun(folder, run.id());
    try (ResultFiles files = new ResultFiles(latest.folder())) {
      for (int i = 0; i < results.size(); i++) {
        PublishedResult result = results.get(i);
        String code = result.code();
        Verdict verdict = verdict(run, result);
        files.append(store.add(i, verdict, code == null ? "" : code).json());
      }
      kernels(latest.folder().resolve(KERNELS), device, reading.results());
      RunResults written = RunResults.finish(store, run, files, selected(), problems);
      latest.link();
      return written.run();
    }
  }

  private List<Task> selected() {
    return suite == null ? List.of() : suite.tasks();
  }

  private RunInfo run(Device device, List<PublishedResult> results, PublishedReading reading) {
    int asked =
        suite == null
            ? (int) results.stream().map(PublishedResult::path).distinct().count()
            : (int) suite.tasks().stream().filter(task -> !task.extra()).count();
    return new RunInfo(
        ResultsFolder.nextRun(),
        Instant.now(),
        null,
        List.of(source.toString()),
        suite == null ? format.label() : suite.name(),
        "*",
        STAGES,
        List.of(),
        device,
        Map.of("kbx", Home.version()),
        results.size(),
        asked,
        Speedup.AS_PUBLISHED,
        "published",
        "published",
        "fp32",
        null,
        false,
        null,
        new RunInfo.Published(
            format.label(),
            reading.records(),
            reading.repeated(),
            reading.results().size() - reading.stated().size(),
            reading.unusable(),
            reading.ofOtherTasks(),
            reading.moved()),
        label.name(),
        label.note());
  }

  private Verdict verdict(RunInfo run, PublishedResult result) {
    String code = result.code();
    Provenance provenance =
        new Provenance(
            run.id(),
            code == null ? "" : DigestUtils.sha256Hex(code),
            result.origin(),
            run.suite(),
            result.task(),
            result.category(),
            result.sample(),
            result.method(),
            result.model(),
            result.round(),
            Map.of(),
            result.record());
    PublishedOutcome outcome = result.outcome();
    if (outcome == null) throw new IllegalArgumentException("a result without an outcome");
    Double speedup = outcome.speedup();
    return Judgement.published(
            outcome.status(),
            outcome.stage(),
            outcome.callOk(),
            outcome.exeOk(),
            outcome.perfOk(),
            outcome.message(),
            speedup == null ? null : Speedup.asPublished(speedup),
            run.device())
        .on(provenance);
  }

  /** Writes the kernels as predictions: those of a device, and those without an outcome. */
  private static void kernels(Path file, Device device, List<PublishedResult> results) {
    AtomicFile.replace(
        file,
        writer -> {
          for (PublishedResult result : results) {
            boolean here = Device.published(result.hardware()).equals(device);
            if (result.code() != null && (here || result.outcome() == null)) line(writer, result);
          }
        });
  }

  private static void line(Writer writer, PublishedResult result) throws IOException {
    ObjectNode row = Json.mapper().createObjectNode();
    row.put("file", result.path() + ".py").put("predict", result.code());
    row.put("method", result.method()).put("model", result.model());
    row.put("round", result.round()).put("sample", result.sample());
    writer.write(Json.mapper().writeValueAsString(row));
    writer.write('\n');
  }
}
