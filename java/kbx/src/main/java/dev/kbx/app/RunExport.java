package dev.kbx.app;

import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Header;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Transcript;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.report.RunFolder;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.Sarif;
import dev.kbx.store.RunStore;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.TaskNumber;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.ToIntBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a run as the files of another harness, into a new or empty folder.
 *
 * @param run its id; null for the newest
 * @param method only this one of a run's; null for all
 * @param target the folder; need not be there
 * @param observer is told what was written
 */
public record RunExport(
    Home home,
    ResultsFolder results,
    @Nullable String run,
    @Nullable String method,
    Path target,
    Observer observer) {
  /**
   * Predictions of KernelBench-X, of a run of methods.
   *
   * @param rounds whether every kernel with its round is one, not only answers
   */
  public void predictions(boolean rounds) {
    transcript("no kernel", (export, _) -> export.predictions(rounds));
  }

  /** GEAK's files of the best kernels after each round, of a run of methods. */
  public void geak() {
    transcript("no kernel", (export, header) -> export.geak(references(header)));
  }

  /** KernelBench-X's iteration corpus, of a run of methods. */
  public void corpus() {
    transcript("no second round with a kernel", (export, _) -> export.corpus());
  }

  /** What methods wrote, from their ledger; {@code writer} returns the number of lines. */
  private void transcript(String nothing, ToIntBiFunction<TranscriptExport, Header> writer) {
    Path ledger =
        (run == null ? results.newestLedger() : results.ledger(run))
            .orElseThrow(() ->
                new InputException(
                    "export: %s by methods; the formats kernelbench and training are for all runs"
                        .formatted(
                            run == null
                                ? "no run in %s was written".formatted(results.place())
                                : "run %s was not written".formatted(run))));
    Transcript transcript = Transcript.read(ledger);
    Header header = transcript.header();
    TranscriptExport export =
        new TranscriptExport(empty(target), chosen(transcript), conditions(header));
    int lines = writer.applyAsInt(export, header);
    if (lines == 0) {
      throw new InputException(
          "run %s has %s: nothing was written".formatted(header.run(), nothing));
    }
    observer.note("run %s: %s in %s".formatted(header.run(), Counted.of(lines, "line"), target));
  }

  private List<Trajectory> chosen(Transcript transcript) {
    if (method == null) return transcript.trajectories();
    List<Trajectory> of =
        transcript.trajectories().stream().filter(each -> each.method().equals(method)).toList();
    if (!of.isEmpty()) return of;
    throw new InputException(
        "--method: run %s has none called %s; it has %s"
            .formatted(
                transcript.header().run(),
                method,
                TranscriptExport.names(transcript.trajectories())));
  }

  private static Map<String, Map<String, String>> conditions(Header header) {
    return header.methods().stream()
        .collect(Collectors.toMap(MethodSettings::name, MethodSettings::conditions));
  }

  /** The sources of references by task; none if the suite is not here. */
  private Map<String, String> references(Header header) {
    Map<String, String> references = new HashMap<>();
    try {
      for (Task task : home.suite(header.suite()).find(header.tasks())) {
        references.put(task.path(), task.reference());
      }
    } catch (InvalidSuite | UnknownTask _) {
      // An own reference, or a suite of another machine.
    }
    return references;
  }

  /**
   * Verified kernels, to learn from.
   *
   * @param licence of the kernels; null if it is not known
   */
  public void training(TrainingFilter filter, @Nullable String licence) {
    try (RunStore store = results.open()) {
      RunInfo chosen = judged(store);
      List<Verdict> verdicts = ofMethod(store.verdicts(chosen.id()).values());
      TrainingFilter.Kept kept = filter.of(verdicts);
      if (kept.verdicts().isEmpty()) {
        throw new InputException(
            "run %s has no kernel to learn from: of %s left out are %s"
                .formatted(
                    chosen.id(), Counted.of(verdicts.size(), "verdict"), words(kept.leftOut())));
      }
      List<Trajectory> trajectories =
          results
              .ledger(chosen.id())
              .map(ledger -> Transcript.read(ledger).trajectories())
              .orElse(List.of());
      TrainingExport export =
          new TrainingExport(empty(target), store, chosen, trajectories, licence);
      boolean parquet = export.write(filter, kept);
      observer.note(
          "run %s: %s of %s in %s; left out: %s"
              .formatted(
                  chosen.id(),
                  Counted.of(kept.verdicts().size(), "example"),
                  Counted.of(verdicts.size(), "verdict"),
                  target,
                  words(kept.leftOut())));
      if (!parquet) {
        observer.note(
            "this bundle has no Parquet, so there is only training.jsonl; a checkout has it");
      }
    }
  }

  /**
   * Solutions and traces of the benchmark that the run's definitions are of.
   *
   * @param sol whether in SOL-ExecBench's form, else in flashinfer-bench's
   */
  public void traces(boolean sol) {
    try (RunStore store = results.open()) {
      RunInfo chosen = judged(store);
      Map<String, Task> tasks = new HashMap<>();
      for (Task task : home.suite(chosen.suite()).find("*")) tasks.put(task.path(), task);
      TraceSet.Written written =
          new TraceSet(chosen, sol, empty(target))
              .write(
                  ofMethod(store.verdicts(chosen.id()).values()),
                  tasks,
                  verdict -> source(store, verdict));
      if (written.solutions() == 0) {
        throw new InputException(
            "run %s has no verdict on an imported definition: nothing was written"
                .formatted(chosen.id()));
      }
      observer.note(
          "run %s: %s, %s in %s"
              .formatted(
                  chosen.id(),
                  Counted.of(written.solutions(), "solution"),
                  Counted.of(written.traces(), "trace"),
                  target));
      if (written.untimed() > 0) {
        observer.note(
            "%s without a trace, which needs a time"
                .formatted(Counted.of(written.untimed(), "correct candidate")));
      }
    }
  }

  /** What failed, as SARIF; locations are relative to the working folder. */
  public void sarif() {
    try (RunStore store = results.open()) {
      RunInfo chosen = judged(store);
      List<Verdict> verdicts = ofMethod(store.verdicts(chosen.id()).values());
      Sarif document = new Sarif(List.of(), Home.version(), Path.of("").toAbsolutePath());
      Path file = empty(target).resolve("verdicts.sarif");
      UnwritableException.naming(target, () -> Files.createDirectories(target));
      AtomicFile.replace(file, writer -> writer.write(document.render(verdicts) + "\n"));
      observer.note(
          "run %s: %s in %s".formatted(chosen.id(), Counted.of(verdicts.size(), "verdict"), file));
    }
  }

  private List<Verdict> ofMethod(Collection<Verdict> verdicts) {
    return verdicts.stream()
        .filter(verdict -> method == null || method.equals(verdict.provenance().method()))
        .toList();
  }

  /** The run, which kbx judged. */
  private RunInfo judged(RunStore store) {
    RunInfo chosen = chosen(store);
    if (chosen.published() == null) return chosen;
    throw new InputException(
        "run %s is as published: none of its kernels is verified; 'kbx eval' judges them"
            .formatted(chosen.id()));
  }

  /** A run folder of KernelBench. */
  public void kernelbench() {
    try (RunStore store = results.open()) {
      RunInfo chosen = judged(store);
      RunVerdicts verdicts =
          method == null
              ? RunResults.verdicts(store, chosen.id())
              : RunResults.verdicts(store, chosen.id(), method);
      RunFolder.Written written =
          new RunFolder(empty(target)).write(verdicts, verdict -> source(store, verdict));
      if (written.kernels() == 0) {
        throw new InputException(
            "run %s has no verdict on a task of KernelBench: nothing was written"
                .formatted(chosen.id()));
      }
      Requests requests =
          results.ledger(chosen.id()).map(this::requests).orElse(new Requests(0, false));
      int prompts = written.prompts() + requests.prompts();
      observer.note(
          "run %s: %s%s%s in %s"
              .formatted(
                  chosen.id(),
                  Counted.of(written.kernels(), "kernel"),
                  prompts == 0 ? "" : ", " + Counted.of(prompts, "prompt"),
                  written.configuration() || requests.configuration()
                      ? ", generation_config.yaml"
                      : "",
                  target));
      if (written.untimed() > 0) warn(written.untimed(), chosen.id());
    }
  }

  /**
   * What was written of the requests of a run of methods.
   *
   * @param configuration whether there is one, which needs exactly one method
   */
  private record Requests(int prompts, boolean configuration) {}

  private Requests requests(Path ledger) {
    Transcript transcript = Transcript.read(ledger);
    List<Trajectory> chosen = chosen(transcript);
    GenerationConfig config = new GenerationConfig(target);
    int prompts = config.prompts(chosen);
    List<String> names = chosen.stream().map(Trajectory::method).distinct().toList();
    if (names.size() != 1) return new Requests(prompts, false);
    for (MethodSettings settings : transcript.header().methods()) {
      if (!settings.name().equals(names.getFirst())) continue;
      config.configuration(transcript.header(), settings, chosen);
    }
    return new Requests(prompts, true);
  }

  /** Warns that KernelBench's scripts have no value for an unknown time. */
  private void warn(int untimed, String id) {
    observer.note(
        ("%s without a runtime: KernelBench's analysis script reads -1 as a negative speedup,"
                + " and counts none of them in fast_0; kbx analyze fastp %s does")
            .formatted(Counted.of(untimed, "correct kernel"), id));
  }

  private static String source(RunStore store, Verdict verdict) {
    return store
        .source(verdict.provenance().candidate())
        .orElseThrow(
            () -> new InputException(verdict.provenance().source() + ": its source was not kept"));
  }

  private RunInfo chosen(RunStore store) {
    if (run != null) return store.run(run).orElseThrow(() -> results.unknown(run, store));
    List<RunInfo> runs = store.runs();
    if (runs.isEmpty()) throw new InputException("export: there is no run yet");
    return runs.getFirst();
  }

  /** Checks that the folder is empty or does not exist. */
  private static Path empty(Path folder) {
    ResultsFolder.refuseObstacle(folder.toString(), folder);
    if (!Files.exists(folder)) return folder;
    try (Stream<Path> files = Files.list(folder)) {
      if (files.findAny().isEmpty()) return folder;
    } catch (IOException e) {
      throw new InputException("%s: cannot be read: %s".formatted(folder, Reason.of(e)), e);
    }
    throw new InputException("%s: is not empty; name a new folder".formatted(folder));
  }

  /** {@code not correct 3, speedup 1}; {@code none} if nothing is left out. */
  private static String words(Map<String, Integer> leftOut) {
    String words =
        leftOut.entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    return words.isEmpty() ? "none" : words;
  }

  /** What a run folder of KernelBench says of the requests: prompts and the configuration. */
  private static final class GenerationConfig {
    private final Path folder;

    GenerationConfig(Path folder) {
      this.folder = folder;
    }

    /**
     * Writes the prompt that led to each kernel in the folder.
     *
     * @return prompts written
     */
    int prompts(List<Trajectory> trajectories) {
      int written = 0;
      for (Trajectory each : trajectories) {
        Kernel answer = each.answer();
        RunFile file = file(each).orElse(null);
        if (answer == null || answer.messages().isEmpty() || file == null) continue;
        if (!Files.exists(folder.resolve(file.name()))) continue;
        String text =
            answer.messages().stream().map(Message::text).collect(Collectors.joining("\n\n"));
        AtomicFile.replace(folder.resolve(file.promptName()), writer -> writer.write(text));
        written++;
      }
      return written;
    }

    private static Optional<RunFile> file(Trajectory of) {
      int slash = of.task().indexOf('/');
      return TaskNumber.of(of.task().substring(0, slash), of.task().substring(slash + 1))
          .map(task -> new RunFile(task, of.sample()));
    }

    /**
     * Writes {@code generation_config.yaml}: KernelBench's keys, as far as kbx has their values,
     * and all settings under {@code kbx}. Every value is JSON, which YAML includes.
     */
    void configuration(Header header, MethodSettings method, List<Trajectory> trajectories) {
      Map<String, @Nullable Object> values = new LinkedHashMap<>();
      values.put("run_name", header.run());
      var levels = new TreeSet<Integer>();
      for (Trajectory each : trajectories) {
        file(each).ifPresent(file -> levels.add(file.task().level()));
      }
      if (levels.size() == 1) values.put("level", levels.first());
      values.put("model_name", method.model());
      values.put("temperature", method.parameters().temperature());
      values.put("top_p", method.parameters().topP());
      values.put("max_tokens", method.parameters().maxTokens());
      values.put("reasoning_effort", method.parameters().reasoningEffort());
      values.put("num_samples", method.samples());
      String shots = method.factors().get("shots");
      values.put("prompt_option", shots == null ? null : shots + "_shot");
      values.put("backend", method.factors().get("language"));
      values.put("precision", header.judging().get("precision"));
      values.put("kbx", method);
      StringBuilder text = new StringBuilder();
      values.forEach((key, value) -> {
        if (value == null) return;
        text.append(key).append(": ").append(Json.mapper().writeValueAsString(value)).append('\n');
      });
      AtomicFile.replace(
          folder.resolve("generation_config.yaml"), writer -> writer.write(text.toString()));
    }
  }
}
