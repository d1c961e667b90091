package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.task.Policy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --policy}: who may compute results. */
final class PolicyOption {
  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      description =
          "Who may compute results: kernel (kernels of the candidate's file; PyTorch may finish off"
              + " small partial results), or mixed (some of the work; PyTorch's share is reported)."
              + " Default: mixed for modules (Model, ModelNew) and imported tasks, else kernel.")
  private @Nullable String policy;

  /** The policy asked for; empty for each task's own. Throws if there is none of that name. */
  Optional<Policy> policy() {
    return Optional.ofNullable(policy).map(PolicyOption::parse);
  }

  private static Policy parse(String name) {
    return Policy.of(name)
        .orElseThrow(
            () -> new UserError("--policy: '%s' is not one of kernel,mixed".formatted(name)));
  }
}
