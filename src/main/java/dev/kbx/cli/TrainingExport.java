package dev.kbx.cli;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.store.RunStore;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.io.IOException;
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
    List<TrainingRow> rows = kept.verdicts().stream().map(this::row).toList();
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UnwritableException(folder, e);
    }
    AtomicFile.replace(
        folder.resolve(LINES),
        writer -> {
          for (TrainingRow row : rows) {
            writer.write(Json.mapper().writeValueAsString(row));
            writer.write('\n');
          }
        });
    boolean parquet = parquet(rows);
    AtomicFile.replace(
        folder.resolve(ABOUT),
        writer ->
            writer.write(
                Json.mapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(about(filter, kept))));
    return parquet;
  }

  private boolean parquet(List<TrainingRow> rows) {
    Path file = folder.resolve(PARQUET);
    try {
      TrainingParquet.write(file, rows);
      return true;
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    } catch (NoClassDefFoundError e) {
      return false; // A bundle for GPU nodes does not have the library.
    }
  }

  /** Where the examples are from, and what was left out. */
  private Map<String, Object> about(TrainingFilter filter, TrainingFilter.Kept kept) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("schema", TrainingRow.SCHEMA);
    about.put("examples", kept.verdicts().size());
    about.put("left_out", kept.leftOut());
    about.put("grade", filter.grade() == null ? run.grade() : filter.grade().label());
    if (filter.least() != null) about.put("min_speedup", filter.least());
    if (filter.policy() != null) about.put("policy", filter.policy());
    about.put("near_duplicates", filter.duplicates() ? "kept" : "fastest of a task's structure");
    about.put("run", run);
    return about;
  }

  private TrainingRow row(Verdict verdict) {
    String kernel =
        store
            .source(verdict.provenance().candidate())
            .orElseThrow(
                () -> new UserError(verdict.provenance().source() + ": its source was not kept"));
    Kernel written = written(verdict, kernel);
    Speedup speedup = verdict.judgement().speedup();
    return new TrainingRow(
        TrainingRow.SCHEMA,
        verdict.provenance().suite(),
        verdict.provenance().category(),
        verdict.provenance().task(),
        written == null ? null : messages(written),
        written == null ? null : written.reply(),
        kernel,
        verdict.provenance().candidate(),
        verdict.judgement().features() == null ? null : verdict.judgement().features().structure(),
        verdict.provenance().method(),
        verdict.provenance().model(),
        verdict.provenance().sample(),
        verdict.provenance().round(),
        verdict.judgement().status().label(),
        verdict.judgement().grade(),
        verdict.judgement().policy(),
        verdict.judgement().precision(),
        verdict.judgement().publishedOk(),
        verdict.judgement().generalOk(),
        verdict.judgement().holds(),
        speedup == null ? null : (Double) speedup.value(),
        speedup == null ? null : (Double) speedup.low(),
        speedup == null ? null : (Double) speedup.high(),
        speedup == null ? null : speedup.baseline(),
        verdict.judgement().device().name(),
        verdict.judgement().device().uuid(),
        verdict.judgement().device().driver(),
        verdict.judgement().versions().get("kbx"),
        verdict.judgement().versions().get("torch"),
        verdict.judgement().versions().get("triton"),
        run.id(),
        run.started().toString(),
        verdict.provenance().source(),
        BUNDLED.contains(verdict.provenance().suite()) ? LICENCE : null,
        licence);
  }

  /** The kernel in the ledger that was judged: the answer, or the last one with that source. */
  private @Nullable Kernel written(Verdict verdict, String code) {
    String task = verdict.provenance().category() + "/" + verdict.provenance().task();
    Kernel found = null;
    for (Trajectory each : trajectories) {
      boolean same =
          each.task().equals(task)
              && each.sample() == verdict.provenance().sample()
              && each.method().equals(verdict.provenance().method());
      if (!same) continue;
      for (Kernel kernel : each.kernels()) if (kernel.code().equals(code)) found = kernel;
      Kernel answer = each.answer();
      if (answer != null && answer.code().equals(code)) found = answer;
    }
    return found;
  }

  private static @Nullable List<TrainingRow.Message> messages(Kernel kernel) {
    if (kernel.messages().isEmpty()) return null;
    List<TrainingRow.Message> messages = new ArrayList<>();
    for (Message message : kernel.messages()) {
      messages.add(new TrainingRow.Message(message.role().label(), message.text()));
    }
    return messages;
  }
}
