package dev.kbx.app;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.llm.ChatRequest;
import dev.kbx.paper.DataFiles;
import dev.kbx.paper.ParquetRows;
import dev.kbx.store.RunStore;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Field.Message;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.Fields.Doc;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Verified kernels of a run with what a model was asked, as JSONL and Parquet. */
final class TrainingExport {
  static final String LINES = "training.jsonl";
  static final String PARQUET = "training.parquet";
  private static final String ABOUT = "training.json";

  private static final int SCHEMA = 1;

  /** What is not known is null, and absent in the files. */
  static final List<Field<Example>> COLUMNS =
      Fields.of(Example.class)
          .and(Field.of("schema", Field.Type.INTEGER, "version of these fields: 1", _ -> SCHEMA))
          .select(
              """
              schema, suite, category, task, messages, reply, kernel, candidate, features.structure as structure,
              method, model, sample, round, status, grade, policy, precision, published_ok, general_ok, holds,
              speedup.value as speedup, speedup.low as speedup_low, speedup.high as speedup_high,
              speedup.baseline as baseline, device.name as device, device.uuid as device_uuid, device.driver as driver,
              versions.kbx as kbx, versions.torch as torch, versions.triton as triton,
              run, judged, source, task_licence, kernel_licence
              """);

  private static final Set<String> BUNDLED = Set.of(Suites.DEFAULT, "kernelbench");

  /** The licence of the suites that kbx brings. */
  private static final String LICENCE = "Apache-2.0";

  private final Path folder;
  private final RunStore store;
  private final RunInfo run;
  private final List<Trajectory> trajectories;
  private final @Nullable String licence;

  /**
   * @param folder empty, or not there yet
   * @param trajectories of the run's ledger; none if it has none
   * @param licence of the kernels; null if it is not known
   */
  TrainingExport(
      Path folder,
      RunStore store,
      RunInfo run,
      List<Trajectory> trajectories,
      @Nullable String licence) {
    this.folder = folder;
    this.store = store;
    this.run = run;
    this.trajectories = trajectories;
    this.licence = licence;
  }

  /**
   * Writes the examples.
   *
   * @return whether there is a Parquet file: a bundle without its library writes none
   */
  boolean write(TrainingFilter filter, TrainingFilter.Kept kept) {
    List<Example> rows = kept.verdicts().stream().map(this::example).toList();
    UnwritableException.naming(folder, () -> Files.createDirectories(folder));
    AtomicFile.replace(
        folder.resolve(LINES),
        writer -> {
          for (Example row : rows) {
            writer.write(Json.mapper().writeValueAsString(Field.json(COLUMNS, row)));
            writer.write('\n');
          }
        });
    boolean parquet = DataFiles.hasParquet();
    if (parquet) parquet(rows);
    AtomicFile.replace(
        folder.resolve(ABOUT),
        writer ->
            writer.write(
                Json.mapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(about(filter, kept))));
    return parquet;
  }

  private void parquet(List<Example> rows) {
    AtomicFile.replaceBytes(
        folder.resolve(PARQUET),
        out -> {
          try (ParquetRows<Example> file = new ParquetRows<>(Example.class, COLUMNS, SCHEMA, out)) {
            rows.forEach(file::write);
          }
        });
  }

  /** Where the examples are from, and what was left out. */
  private Map<String, Object> about(TrainingFilter filter, TrainingFilter.Kept kept) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("schema", SCHEMA);
    about.put("examples", kept.verdicts().size());
    about.put("left_out", kept.leftOut());
    about.put("grade", filter.grade() == null ? run.grade() : filter.grade().label());
    if (filter.least() != null) about.put("min_speedup", filter.least());
    if (filter.policy() != null) about.put("policy", filter.policy());
    about.put("near_duplicates", filter.duplicates() ? "kept" : "fastest of a task's structure");
    about.put("run", run);
    return about;
  }

  /** A verified kernel, and where it is from. */
  record Example(
      @JsonUnwrapped Verdict verdict,
      @Doc(
              "what the model was asked, a list of `role` and `content`; absent for kernels that"
                  + " were not written in a run of methods")
          @Nullable List<Message> messages,
      @Doc("the model's raw reply; absent as `messages`, and where a program brought the kernel")
          @Nullable String reply,
      @Doc("the source that was judged") String kernel,
      @Doc("when the run that judged it began, ISO 8601") String judged,
      @Doc("licence of the task's statement and reference, where kbx brings it")
          @Nullable String taskLicence,
      @Doc("licence of the kernel, as given with `--licence`") @Nullable String kernelLicence) {}

  private Example example(Verdict verdict) {
    Provenance from = verdict.provenance();
    String kernel =
        store
            .source(from.candidate())
            .orElseThrow(() -> new InputException(from.source() + ": its source was not kept"));
    Kernel written = written(from, kernel);
    return new Example(
        verdict,
        written == null ? null : messages(written),
        written == null ? null : written.reply(),
        kernel,
        run.started().toString(),
        BUNDLED.contains(from.suite()) ? LICENCE : null,
        licence);
  }

  /** The kernel in the ledger that was judged: the answer, or the last one with that source. */
  private @Nullable Kernel written(Provenance from, String code) {
    String task = from.category() + "/" + from.task();
    Kernel found = null;
    for (Trajectory each : trajectories) {
      boolean same =
          each.task().equals(task)
              && each.sample() == from.sample()
              && each.method().equals(from.method());
      if (!same) continue;
      for (Kernel kernel : each.kernels()) if (kernel.code().equals(code)) found = kernel;
      Kernel answer = each.answer();
      if (answer != null && answer.code().equals(code)) found = answer;
    }
    return found;
  }

  private static @Nullable List<Message> messages(Kernel kernel) {
    if (kernel.messages().isEmpty()) return null;
    List<Message> messages = new ArrayList<>();
    for (ChatRequest.Message message : kernel.messages()) {
      messages.add(new Message(message.role().label(), message.text()));
    }
    return messages;
  }
}
