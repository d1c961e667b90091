package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run without its verdicts.
 *
 * @param id sortable and unique: UTC start time and four random letters, {@code
 *     20261121T063501-kqzp}
 * @param finished null while it runs and after an interrupt
 * @param sources the paths given, as given
 * @param suite name of the suite, or the folder it was read from
 * @param tasks the task selection as given (a glob), {@code *} for all
 * @param stages the requested stages, in order
 * @param rulesOff ids of the static rules that were switched off
 * @param device device of the run
 * @param candidates number of candidates
 * @param suiteTasks number of published tasks in the selection: the denominator of rates
 * @param baseline baseline of speedups: {@code eager}, {@code compile}, {@code max-autotune} or
 *     {@code best} of them
 * @param tolerance tolerance of results: {@code model} or {@code published}
 * @param grade which calls decide: {@code published} or {@code general}
 * @param precision what modules are cast to: {@code fp16}, {@code bf16}, or nothing: {@code fp32}
 * @param policy who may compute results: {@code kernel}, {@code mixed}, or {@code kernel,mixed}
 *     where tasks differ; null in runs of earlier versions
 * @param publishedAccounting whether candidates that are refused because of who computes are run
 *     nevertheless; false in runs of earlier versions
 * @param settings null in runs of earlier versions
 * @param published what it was imported from if it holds results as others published them, of which
 *     kbx has judged none; null for all other runs
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
    String precision,
    @Nullable String policy,
    boolean publishedAccounting,
    @Nullable Settings settings,
    @Nullable Published published) {

  /** Whether it is a run of {@code kbx serve}, which has no number of candidates and no end. */
  public boolean neverEnds() {
    return finished == null && candidates == 0;
  }

  /**
   * The import of published results.
   *
   * @param format of the files, {@code kernelbenchx-corpus}
   * @param records how many were read
   * @param repeated how many of them say again what an earlier one says
   * @param withoutOutcome how many state no outcome, so that they are not in the run
   * @param unusable how many could not be used; {@code summary.json} has the reason of each
   */
  public record Published(
      String format, int records, int repeated, int withoutOutcome, int unusable) {}

  /**
   * Further settings that affect its verdicts.
   *
   * @param arch architecture that launches were compiled for without a GPU
   * @param timeoutSeconds limit for one call of an entry
   * @param deviceSeconds that a candidate's timed calls have the device alone; null in runs of
   *     earlier versions
   * @param seed hash of the seed text: equal for runs with the same seed
   * @param profile whether Nsight Compute was requested
   * @param sources hash: equal for runs on the same sources in the same order
   */
  public record Settings(
      String arch,
      int timeoutSeconds,
      @Nullable Integer deviceSeconds,
      String seed,
      boolean profile,
      String sources) {}

  public RunInfo {
    sources = List.copyOf(sources);
    stages = List.copyOf(stages);
    // Absent in runs of earlier versions, in which no rule could be switched off.
    rulesOff = rulesOff == null ? List.of() : List.copyOf(rulesOff);
    // Absent in runs of earlier versions, which had only these.
    baseline = baseline == null ? "eager" : baseline;
    tolerance = tolerance == null ? "model" : tolerance;
    grade = grade == null ? "general" : grade;
    precision = precision == null ? "fp32" : precision;
    versions = Map.copyOf(versions);
  }

  /** A run that kbx judges. */
  public RunInfo(
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
      String precision,
      @Nullable String policy,
      boolean publishedAccounting,
      @Nullable Settings settings) {
    this(
        id,
        started,
        finished,
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
        precision,
        policy,
        publishedAccounting,
        settings,
        null);
  }

  /**
   * Whether only named {@code .py} files are judged. A folder, predictions file or run folder is an
   * attempt at the suite, and only then are rates shares of the suite.
   */
  public boolean ofFiles() {
    return sources.stream().allMatch(source -> source.toLowerCase(Locale.ROOT).endsWith(".py"));
  }

  /** The same run, finished at {@code end}. */
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
        precision,
        policy,
        publishedAccounting,
        settings,
        published);
  }

  /**
   * Whether the general grade is another than the one that decided: false, too, of published
   * results, which are judged at neither.
   */
  public boolean hasTwoGrades() {
    return published == null && !decidedByAllCalls();
  }

  /** Whether all calls of a task decided: then correct is correct at the general grade. */
  public boolean decidedByAllCalls() {
    return grade.equals("general");
  }
}
