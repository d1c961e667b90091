package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.RunPlan;
import dev.kbx.prompt.Prompts;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code kbx generate} and {@code kbx run} share: the tasks, the judging, the results. */
final class GenerationFlags {
  @Option(
      names = "--resume",
      description = "Continue the newest unfinished run of these methods in --out.")
  boolean resume;

  @Mixin Options.JsonFlag json = new Options.JsonFlag();

  @Option(
      names = "--keep-replies",
      description =
          "Keep replies in kbx's folder, and take what was asked before from there, in any run.")
  boolean keepReplies;

  @Option(
      names = "--prompts",
      paramLabel = "DIR",
      description = "Prompt files. Default: those of kbx, in prompts/.")
  private @Nullable Path prompts;

  @Mixin Options.OutFolder out = new Options.OutFolder();
  @Mixin Options.Judging judging = new Options.Judging();
  @Mixin Options.Models models = new Options.Models();

  Prompts prompts() {
    return prompts == null ? Prompts.bundled(Home.here().folder()) : Prompts.in(prompts);
  }

  /** The tasks, and the plan of the final judgement, on inputs that no method has seen. */
  RunPlan heldOut() {
    return judging.options().runPlan(Home.here());
  }
}
