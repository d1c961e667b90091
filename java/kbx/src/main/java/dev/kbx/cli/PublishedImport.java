package dev.kbx.cli;

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
final class PublishedImport {
  /** The kernels of a run, for {@code kbx eval}. */
  static final String KERNELS = "predictions.jsonl";

  /** What a published result may be about. */
  private static final List<Stage> STAGES = List.of(Stage.CALL, Stage.CORRECT, Stage.PERF);

  private final RunStore store;
  private final Path folder;
  private final PublishedFormat format;
  private final Path source;
  private final @Nullable Suite suite;

  PublishedImport(
      RunStore store, Path folder, PublishedFormat format, Path source, @Nullable Suite suite) {
    this.store = store;
    this.folder = folder;
    this.format = format;
    this.source = source;
    this.suite = suite;
  }

  /** Writes all runs, in the order in which their devices are named first. */
  List<RunInfo> write(PublishedReading reading, List<String> problems) {
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
        RunIds.next(),
        Instant.now(),
        null,
        List.of(source.toString()),
        suite == null ? format.label() : suite.name(),
        "*",
        STAGES,
        List.of(),
        device,
        Map.of("kbx", Version.number()),
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
            reading.unusable()));
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
