package dev.kbx.cli;

import dev.kbx.error.InputException;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.task.Task;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** PromptConditions of prompts: factors that analyses can group by. */
@HelpSection.In(HelpSection.PROMPT)
final class ConditionFlags {
  @Option(
      names = "--shots",
      paramLabel = "N",
      defaultValue = "one",
      description = "Example kernels in the prompt: zero, one or few. Default: ${DEFAULT-VALUE}.")
  private String shots = "one";

  @Option(
      names = "--hardware",
      description = "Describe the device: its limits, peaks and what is good practice on it.")
  private boolean hardware;

  @Option(names = "--advice", description = "Add advice on the task's category.")
  private boolean advice;

  @Option(
      names = "--language",
      paramLabel = "NAME",
      defaultValue = "triton",
      description =
          "What to write: triton, cuda (C++ inline), cute (CuTe DSL) or tilelang, where the suite"
              + " allows it."
              + " Default: ${DEFAULT-VALUE}.")
  private String language = "triton";

  @Option(
      names = "--feedback",
      paramLabel = "KIND",
      defaultValue = "execution",
      description =
          "What later turns are told: none, execution (errors, wrong elements, times), or profile"
              + " (Nsight Compute's figures, too). Default: ${DEFAULT-VALUE}.")
  private String feedback = "execution";

  @Option(
      names = "--history",
      paramLabel = "WHICH",
      defaultValue = "last",
      description =
          "Earlier kernels that later turns show: last, or whole. Default: ${DEFAULT-VALUE}.")
  private String history = "last";

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "chat",
      description =
          "Form of the prompt: chat, or what a specialised model was trained on: autotriton,"
              + " kernelllm. Default: ${DEFAULT-VALUE}.")
  private String format = "chat";

  FeedbackKind feedback() {
    return one(FeedbackKind.class, "--feedback", feedback);
  }

  /** Throws if one of the tasks takes no kernels in the language asked for. */
  void check(List<Task> tasks) {
    for (Task task : tasks) {
      if (language().allowedBy(task)) continue;
      throw new InputException(
          "--language %s: %s takes Triton kernels only; tasks with a Model, as those of --suite kernelbench, and your own references take others"
              .formatted(language, task.path()));
    }
  }

  private Language language() {
    return one(Language.class, "--language", language);
  }

  /** For the prompts of a task that is judged by a plan. */
  PromptConditions conditions(Plan plan, Task task) {
    return new PromptConditions(
        one(Shots.class, "--shots", shots),
        hardware,
        advice,
        language(),
        feedback(),
        one(History.class, "--history", history),
        one(Format.class, "--format", format),
        plan.grade(),
        plan.policy(task),
        plan.precision());
  }

  private static <E extends Enum<E>> E one(Class<E> type, String option, String word) {
    for (E value : type.getEnumConstants()) {
      if (value.name().equals(word.toUpperCase(Locale.ROOT))) return value;
    }
    String known =
        Arrays.stream(type.getEnumConstants())
            .map(value -> value.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(","));
    throw new InputException("%s: '%s' is not one of %s".formatted(option, word, known));
  }
}
