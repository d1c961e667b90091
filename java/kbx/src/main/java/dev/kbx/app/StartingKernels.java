package dev.kbx.app;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.error.InputException;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Kernels that methods begin with: {@code --from}. */
public final class StartingKernels {
  /** The order by the last round, then the first sample; kernels without a round are last. */
  private static final Comparator<Candidate> LATEST =
      Comparator.<Candidate, Integer>comparing(
              each -> each.round() == null ? Integer.valueOf(Integer.MAX_VALUE) : each.round())
          .thenComparing(Candidate::sample, Comparator.reverseOrder());

  private StartingKernels() {}

  /** The order by the fastest correct kernel, else by how far a kernel came. */
  private static final Comparator<VerdictRow> BEST =
      Comparator.comparing(VerdictRow::correct)
          .thenComparingDouble(row -> row.speedup() == null ? 0 : row.speedup().low())
          .thenComparing(VerdictRow::valuesOk)
          .thenComparing(row -> Boolean.TRUE.equals(row.callOk()))
          .thenComparingInt(row -> row.round() == null ? 0 : row.round());

  /**
   * The kernel for each task: the file itself; what {@code kbx eval} would judge for it in a file
   * or folder, of the last round the first sample; or the best one of a run.
   *
   * @param from null for none
   * @param out where a run is that is named by its id alone
   */
  public static Function<Task, Optional<String>> of(
      @Nullable Path from, Path out, Suite suite, List<Task> selected) {
    if (from == null) return _ -> Optional.empty();
    if (!Files.exists(from) || Files.exists(from.resolve("kbx.db"))) {
      return ofRun(from, out, selected);
    }
    if (Files.isRegularFile(from) && SourceFiles.isPython(from)) {
      if (selected.size() == 1) {
        String code = read(from);
        return _ -> Optional.of(code);
      }
      throw new InputException(
          "--from %s: one kernel for %d tasks; name one task with --tasks, or give a folder"
              .formatted(from, selected.size()));
    }
    Map<Task, Candidate> kernels = new HashMap<>();
    for (Candidate each : CandidateSources.read(List.of(from), suite, selected).candidates()) {
      kernels.merge(
          each.task(), each, (known, now) -> LATEST.compare(now, known) > 0 ? now : known);
    }
    if (kernels.isEmpty()) {
      throw new InputException(
          "--from %s: has no kernel of these tasks, as %s.py"
              .formatted(from, selected.getFirst().path()));
    }
    return task -> Optional.ofNullable(kernels.get(task)).map(Candidate::code);
  }

  private static Function<Task, Optional<String>> ofRun(Path from, Path out, List<Task> selected) {
    ResultsFolder folder = ResultsFolder.of(out);
    Map<String, VerdictRow> best = new HashMap<>();
    for (JudgedRun run : runs(from, folder)) {
      for (VerdictRow row : run.rows()) {
        if (row.status() == Status.NO_CODE) continue;
        best.merge(
            place(row.suite(), row.path()),
            row,
            (known, now) -> BEST.compare(now, known) > 0 ? now : known);
      }
    }
    Set<String> candidates =
        selected.stream()
            .map(task -> best.get(place(task.suite(), task.path())))
            .filter(Objects::nonNull)
            .map(VerdictRow::candidate)
            .collect(Collectors.toSet());
    Map<String, String> sources = NamedRun.sources(from.toString(), folder, candidates);
    if (sources.isEmpty()) {
      throw new InputException(
          "--from %s: the run has no kernel of these tasks, as %s"
              .formatted(from, selected.getFirst().path()));
    }
    return task ->
        Optional.ofNullable(best.get(place(task.suite(), task.path())))
            .map(row -> sources.get(row.candidate()));
  }

  private static List<JudgedRun> runs(Path from, ResultsFolder folder) {
    try {
      return NamedRun.read(List.of(from.toString()), folder);
    } catch (InputException e) {
      throw new InputException("--from " + e.getMessage());
    }
  }

  private static String place(String suite, String path) {
    return suite + "/" + path;
  }

  private static String read(Path file) {
    String code =
        SourceFiles.code(
            file,
            problem -> {
              throw new InputException(problem.toString());
            });
    return Objects.requireNonNull(code);
  }
}
