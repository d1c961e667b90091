package dev.kbx.verdict;

import dev.kbx.verdict.Fields.Doc;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run without its verdicts.
 *
 * @param device device of the run
 * @param settings null in runs of earlier versions
 * @param published what it was imported from if it holds results as others published them, of which
 *     kbx has judged none; null for all other runs
 */
public record RunInfo(
    @Doc("UTC start time and four letters: `20261121T063501-kqzp`; sortable") String id,
    @Doc("ISO 8601") Instant started,
    @Doc("ISO 8601; absent while it runs and after an interrupt") @Nullable Instant finished,
    @Doc("the paths given") List<String> sources,
    @Doc("name of the suite, or its folder") String suite,
    @Doc("the selection, `*` for all") String tasks,
    @Doc("the stages asked for, in order") List<Stage> stages,
    @Doc("static rules that were switched off") List<String> rulesOff,
    Verdict.Device device,
    @Doc("as in a verdict") Map<String, String> versions,
    @Doc("number of candidates") int candidates,
    @Doc("number of published tasks in the selection: what rates are of") int suiteTasks,
    @Doc("`eager`, `compile`, `max-autotune` or `best`") String baseline,
    @Doc("`model` or `published`") String tolerance,
    @Doc("which calls decide: `published` or `general`") String grade,
    @Doc("what modules are cast to: `fp32`, `fp16` or `bf16`") String precision,
    @Doc("who may compute: `kernel`, `mixed`, or `kernel,mixed` where tasks differ")
        @Nullable String policy,
    @Doc("whether candidates refused because of who computes were run nevertheless")
        boolean publishedAccounting,
    @Nullable Settings settings,
    @Nullable Published published,
    @Doc("what its user calls it; may change") @Nullable String name,
    @Doc("what its user says of it; may change") @Nullable String note) {

  /**
   * Whether it is a run of {@code kbx serve} or {@code mcp}, which has no number of candidates and
   * no end.
   */
  public boolean neverEnds() {
    return finished == null && candidates == 0;
  }

  /** The import of published results. */
  public record Published(
      @Doc("of results [as others published them](import-results.md): the format that was read")
          String format,
      @Doc("how many records were read") int records,
      @Doc("how many of them say again what an earlier one says") int repeated,
      @Doc("how many state no outcome, so that they are not in the run") int withoutOutcome,
      @Doc("how many could not be used; `summary.json` has the reason of each") int unusable,
      @Doc("how many of these are for no task of the suite; absent in earlier imports")
          @Nullable Integer ofOtherTasks,
      @Doc("how many are for tasks that the suite has in another category; absent as well")
          @Nullable Integer moved) {

    /** The format of KernelBench-X's iteration corpus. */
    public static final String CORPUS = "kernelbenchx-corpus";

    /** Why {@link #ofChanges} give no rates, as a clause. */
    public static final String NO_RATES =
        "the iteration corpus holds only tasks in which something happened";

    /**
     * Whether only results were published in which something changed. Of how many tasks they are is
     * not known, so that nothing is a share of them.
     */
    public boolean ofChanges() {
      return format.equals(CORPUS);
    }
  }

  /** Further settings that affect its verdicts. */
  public record Settings(
      @Doc("architecture compiled for without a GPU") String arch,
      @Doc(value = "limit for one call", unit = "seconds") int timeoutSeconds,
      @Doc(value = "time that timed calls have the device alone", unit = "seconds")
          @Nullable Integer deviceSeconds,
      @Doc("hash of the seed text: equal for runs with equal seeds") String seed,
      @Doc("whether a profile was asked for") boolean profile,
      @Doc("whether what kernels do to memory decides; absent in runs of earlier versions")
          @Nullable Boolean memoryChecks,
      @Doc("properties that `--properties` asked for; absent where there are none")
          @Nullable List<String> properties,
      @Doc("hash of the kernels that `--baseline FILE` named; absent where there are none")
          @Nullable String experts,
      @Doc("hash of the sources in their order") String sources) {}

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

  /**
   * Whether only named {@code .py} files are judged. A folder, predictions file or run folder is an
   * attempt at the suite, and only then are rates shares of the suite.
   */
  public boolean ofFiles() {
    return sources.stream().allMatch(source -> source.toLowerCase(Locale.ROOT).endsWith(".py"));
  }

  /** Whether it holds {@linkplain Published#ofChanges published changes alone}. */
  public boolean ofChanges() {
    return published != null && published.ofChanges();
  }

  /** This run, finished at {@code end}. */
  public RunInfo finishedAt(Instant end) {
    return with(end, label());
  }

  /** This run with another name and note. */
  public RunInfo labelled(RunLabel label) {
    return with(finished, label);
  }

  /** Its name and note. */
  public RunLabel label() {
    return new RunLabel(name, note);
  }

  /** Its name with the id, or the id alone. */
  public String title() {
    return name == null ? id : "%s (%s)".formatted(name, id);
  }

  private RunInfo with(@Nullable Instant end, RunLabel label) {
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
        published,
        label.name(),
        label.note());
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
