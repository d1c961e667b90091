package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.PreparedMethods;
import dev.kbx.app.RunPlan;
import dev.kbx.error.InputException;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.prompt.Prompts;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code kbx generate} and {@code kbx run} share: the tasks, the judging, the results. */
final class GenerationFlags {
  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--resume",
      description = "Continue the newest unfinished run of these methods in --out.")
  boolean resume;

  @Mixin Options.JsonFlag json = new Options.JsonFlag();

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--keep-replies",
      description =
          "Keep replies in kbx's folder, and take what was asked before from there, in any run.")
  private boolean keepReplies;

  @HelpSection.In(HelpSection.PROMPT)
  @Option(
      names = "--prompts",
      paramLabel = "DIR",
      description = "Prompt files. Default: those of kbx, in prompts/.")
  private @Nullable Path prompts;

  private @Nullable Path insteadOfPrompts;

  @Mixin Options.OutFolder out = new Options.OutFolder();
  @Mixin Options.Judging judging = new Options.Judging();
  @Mixin private Options.Models models = new Options.Models();

  /** Takes the prompts of a folder instead of those of the same names. */
  void replacePrompts(Path folder) {
    insteadOfPrompts = folder;
  }

  Prompts prompts() {
    Prompts read = prompts == null ? Prompts.bundled(Home.here().folder()) : Prompts.in(prompts);
    return insteadOfPrompts == null ? read : read.with(insteadOfPrompts);
  }

  /**
   * The methods of a run, their controls included. Throws {@link InputException} for wrong ones.
   *
   * @param run the tasks, and the plan by which feedback is found
   */
  PreparedMethods prepared(List<MethodFlags> given, RunPlan run) {
    given.forEach(method -> method.check(run.selected()));
    ModelCatalog catalog = models.catalog();
    Prompts read = prompts();
    List<PreparedMethods.Asked> asked =
        given.stream()
            .flatMap(method -> method.asked(run, read.version(), catalog::redact).stream())
            .toList();
    return new PreparedMethods(Home.here(), catalog, read, keepReplies, run, asked);
  }

  /** The tasks, and the plan of the final judgement, on inputs that no method has seen. */
  RunPlan heldOut() {
    return judging.options().runPlan(Home.here());
  }
}
