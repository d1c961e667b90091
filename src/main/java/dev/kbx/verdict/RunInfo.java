package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a run apart from its verdicts.
 *
 * @param id sortable and unique: UTC start time and four random letters, {@code
 *     20261121T063501-kqzp}
 * @param finished null while it runs and after it was cut off
 * @param sources the paths given, as given
 * @param suite name of the suite, or the folder it was read from
 * @param tasks the task selection as given (a glob), {@code *} for all
 * @param stages the stages asked for, in order
 * @param rulesOff ids of the static rules that were switched off
 * @param device what it ran on
 * @param candidates how many candidates were found
 * @param suiteTasks how many tasks the selection covers (of the paper's set): the denominator of
 *     rates
 * @param baseline what speedups are against: {@code eager}, {@code compile}, {@code max-autotune}
 *     or {@code best} of them
 * @param tolerance how near results had to be: {@code model} or {@code published}
 * @param grade which calls decide: {@code published} or {@code general}
 * @param publishedAccounting whether candidates that are refused because of who computes are run
 *     nevertheless; false in runs of earlier versions
 * @param settings null in runs of earlier versions
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunInfo(
    String id,
    Instant started,
    @Nullable Instant finished,
    List<String> sources,
    String suite,
    String tasks,
    List<Stage> stages,
    List<String> rulesOff,
    Verdict.Device device,
    Map<String, String> versions,
    int candidates,
    int suiteTasks,
    String baseline,
    String tolerance,
    String grade,
    boolean publishedAccounting,
    @Nullable Settings settings) {

  /**
   * What else its verdicts depend on.
   *
   * @param arch what launches were compiled for where there was no GPU
   * @param timeoutSeconds limit for one call of an entry
   * @param seed equal for runs whose inputs derive from the same text, which it does not tell
   * @param profile whether Nsight Compute was asked for
   * @param sources equal for runs on the same sources in the same order
   */
  public record Settings(
      String arch, int timeoutSeconds, String seed, boolean profile, String sources) {}

  public RunInfo {
    sources = List.copyOf(sources);
    stages = List.copyOf(stages);
    // Runs of earlier versions do not say it: nothing could be switched off.
    rulesOff = rulesOff == null ? List.of() : List.copyOf(rulesOff);
    // Nor these: there were no others.
    baseline = baseline == null ? "eager" : baseline;
    tolerance = tolerance == null ? "model" : tolerance;
    grade = grade == null ? "general" : grade;
    versions = Map.copyOf(versions);
  }

  /**
   * Whether files are judged, and not a suite: every source is a {@code .py} file that was named. A
   * folder, a predictions file or a run folder is an attempt at the suite, and only then are rates
   * shares of it.
   */
  public boolean ofFiles() {
    return sources.stream().allMatch(source -> source.toLowerCase(Locale.ROOT).endsWith(".py"));
  }

  /** The same run, ended at {@code end}. */
  public RunInfo finishedAt(Instant end) {
    return new RunInfo(
        id,
        started,
        end,
        sources,
        suite,
        tasks,
        stages,
        rulesOff,
        device,
        versions,
        candidates,
        suiteTasks,
        baseline,
        tolerance,
        grade,
        publishedAccounting,
        settings);
  }
}
