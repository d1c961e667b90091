package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Kernels that methods begin with: {@code --from}. */
final class StartingKernels {
  /** Of the last round the first sample; kernels without a round are last. */
  private static final Comparator<Candidate> LATEST =
      Comparator.<Candidate, Integer>comparing(
              each -> each.round() == null ? Integer.valueOf(Integer.MAX_VALUE) : each.round())
          .thenComparing(Candidate::sample, Comparator.reverseOrder());

  private StartingKernels() {}

  /**
   * The kernel for each task: the file itself, or what {@code kbx eval} would judge for it in a
   * file or folder: of the last round the first sample.
   */
  static Function<Task, Optional<String>> of(
      @Nullable Path from, Suite suite, List<Task> selected) {
    if (from == null) return _ -> Optional.empty();
    if (Files.isRegularFile(from) && SourceFiles.isPython(from)) {
      if (selected.size() == 1) {
        String code = read(from);
        return _ -> Optional.of(code);
      }
      throw new UserError(
          "--from %s: one kernel for %d tasks; name one task with --tasks, or give a folder"
              .formatted(from, selected.size()));
    }
    if (!Files.exists(from)) throw new UserError("--from %s: does not exist".formatted(from));
    Map<Task, Candidate> kernels = new HashMap<>();
    for (Candidate each : CandidateSources.read(List.of(from), suite, selected).candidates()) {
      kernels.merge(
          each.task(), each, (known, now) -> LATEST.compare(now, known) > 0 ? now : known);
    }
    if (kernels.isEmpty()) {
      throw new UserError(
          "--from %s: has no kernel of these tasks, as %s.py"
              .formatted(from, selected.getFirst().path()));
    }
    return task -> Optional.ofNullable(kernels.get(task)).map(Candidate::code);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UserError("%s: cannot be read: %s".formatted(file, Reason.of(e)));
    }
  }
}
