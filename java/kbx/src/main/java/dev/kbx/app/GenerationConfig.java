package dev.kbx.app;

import dev.kbx.files.AtomicFile;
import dev.kbx.generate.Header;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a run folder of KernelBench says of the requests: prompts and the configuration. */
final class GenerationConfig {
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
   * Writes {@code generation_config.yaml}: KernelBench's keys, as far as kbx has their values, and
   * all settings under {@code kbx}. Every value is JSON, which YAML includes.
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
