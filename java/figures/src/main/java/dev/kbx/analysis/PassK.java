package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.PassAtK;
import dev.kbx.stats.TaskMean;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * pass@k and pass^k of a series: the means of {@link PassAtK} over tasks, for each criterion. Only
 * tasks with at least k judged samples count, so different k may cover different tasks.
 *
 * @param ks ascending
 * @param rows the data
 */
public record PassK(Series series, List<Integer> ks, List<Measure> measures, List<Row> rows) {

  /** Criterion of a pass. */
  public enum Pass {
    /** Load, compile and return from its calls. */
    CALLED,
    /** Be correct. */
    CORRECT,
    /** Be correct at the general grade. */
    GENERAL,
    /** Be correct and faster than eager PyTorch. */
    FAST;

    /** The name in files: {@code called, …}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** All groups for one criterion; {@code unknown} says why there are none. */
  public record Measure(
      Pass pass, @Nullable String unknown, @Nullable Group overall, List<Group> categories) {}

  /** A group of tasks: a category, or all if {@code category} is null. */
  public record Group(@Nullable String category, List<At> at) {}

  /**
   * pass@k.
   *
   * @param tasks number of tasks with at least k samples
   * @param value from 0 to 1; null if unknown
   * @param low lower end of its 95 % bootstrap interval over tasks; null if all tasks have the same
   *     value, as resampling then has no spread
   * @param allPass pass^k: the chance that all k samples pass; null if the value is unknown
   * @param unknown why; null if the value is known
   */
  public record At(
      int k,
      int tasks,
      @Nullable Double value,
      @Nullable Double low,
      @Nullable Double high,
      @Nullable TaskMean allPass,
      @Nullable String unknown) {}

  /**
   * One task.
   *
   * @param samples number of judged samples
   * @param called passed samples; null if the stage was not requested, as is {@code correct}
   * @param general samples that are correct at the general grade; null if that is unknown of one
   * @param fast null if nothing was timed or a correct sample has no speedup against eager
   * @param untimed correct samples without such a speedup
   */
  public record Row(
      String category,
      String task,
      int samples,
      @Nullable Integer called,
      @Nullable Integer correct,
      @Nullable Integer general,
      @Nullable Integer fast,
      int untimed) {
    @Nullable Integer passes(Pass pass) {
      return switch (pass) {
        case CALLED -> called;
        case CORRECT -> correct;
        case GENERAL -> general;
        case FAST -> fast;
      };
    }
  }

  /** One for each series of the run; {@code ks} are positive. */
  public static List<PassK> of(JudgedRun run, SelectedTasks asked, List<Integer> ks) {
    List<Integer> ascending = ks.stream().distinct().sorted().toList();
    BaselineSpeeds speeds = BaselineSpeeds.of(run.rows());
    Map<Pass, String> unmeasured = unmeasured(run, speeds);
    return Series.of(run, asked).parallelStream()
        .map(members -> of(members, rows(members.rows(), run, speeds), ascending, unmeasured))
        .toList();
  }

  private static PassK of(
      Series.Members members, List<Row> rows, List<Integer> ks, Map<Pass, String> unmeasured) {
    List<Measure> measures = new ArrayList<>();
    for (Pass pass : Pass.values()) {
      String why = unmeasured.get(pass);
      measures.add(
          why == null ? measure(pass, members, rows, ks) : new Measure(pass, why, null, List.of()));
    }
    return new PassK(members.series(), ks, measures, rows);
  }

  /** The criteria that were not measured, with the reason. */
  private static Map<Pass, String> unmeasured(JudgedRun run, BaselineSpeeds speeds) {
    Map<Pass, String> why = new LinkedHashMap<>();
    if (run.run().ofChanges()) {
      for (Pass pass : Pass.values()) why.put(pass, RunInfo.Published.NO_RATES);
      return why;
    }
    if (run.run().published() != null) why.put(Pass.GENERAL, Outcome.NOT_PUBLISHED);
    List<Stage> stages = run.run().stages();
    if (!stages.contains(Stage.CALL)) why.put(Pass.CALLED, "the call stage was not asked for");
    if (!stages.contains(Stage.CORRECT)) {
      why.put(Pass.CORRECT, "the correct stage was not asked for");
      why.put(Pass.GENERAL, "the correct stage was not asked for");
      why.put(Pass.FAST, "the correct stage was not asked for");
    } else if (!speeds.isTimed(run)) {
      why.put(Pass.FAST, "nothing was timed: " + run.untimed());
    }
    return why;
  }

  private static List<Row> rows(List<VerdictRow> verdicts, JudgedRun run, BaselineSpeeds speeds) {
    boolean timed = speeds.isTimed(run);
    Map<String, List<VerdictRow>> tasks = new LinkedHashMap<>();
    for (VerdictRow verdict : verdicts) {
      if (!verdict.judged()) continue;
      tasks.computeIfAbsent(verdict.path(), _ -> new ArrayList<>()).add(verdict);
    }
    return tasks.values().stream().map(samples -> row(samples, run.run(), timed, speeds)).toList();
  }

  private static Row row(
      List<VerdictRow> samples, RunInfo run, boolean timed, BaselineSpeeds speeds) {
    boolean call = run.stages().contains(Stage.CALL);
    boolean correct = run.stages().contains(Stage.CORRECT);
    List<VerdictRow> right = samples.stream().filter(VerdictRow::correct).toList();
    List<Double> known = new ArrayList<>();
    for (VerdictRow verdict : right) {
      Double speedup = speeds.of(verdict).get(BaselineSpeeds.EAGER);
      if (speedup != null) known.add(speedup);
    }
    int untimed = correct ? right.size() - known.size() : 0;
    VerdictRow any = samples.getFirst();
    return new Row(
        any.category(),
        any.task(),
        samples.size(),
        call ? count(samples, v -> v.called()) : null,
        correct ? right.size() : null,
        correct ? general(samples) : null,
        timed && correct && untimed == 0 ? count(known, speedup -> speedup > 1) : null,
        untimed);
  }

  private static @Nullable Integer general(List<VerdictRow> samples) {
    Grades.GeneralRate rate = Grades.GeneralRate.of(samples);
    return rate == null ? null : rate.correct();
  }

  private static <T> int count(List<T> all, Predicate<T> wanted) {
    return Math.toIntExact(all.stream().filter(wanted).count());
  }

  private static Measure measure(
      Pass pass, Series.Members members, List<Row> rows, List<Integer> ks) {
    List<Group> categories = new ArrayList<>();
    for (String category : members.asked().categories(members.rows())) {
      List<Row> own = rows.stream().filter(row -> row.category().equals(category)).toList();
      categories.add(group(category, pass, own, ks));
    }
    return new Measure(pass, null, group(null, pass, rows, ks), categories);
  }

  private static Group group(
      @Nullable String category, Pass pass, List<Row> rows, List<Integer> ks) {
    return new Group(category, ks.stream().map(k -> at(k, pass, rows)).toList());
  }

  private static At at(int k, Pass pass, List<Row> rows) {
    List<Row> entered = rows.stream().filter(row -> row.samples() >= k).toList();
    if (entered.isEmpty()) return new At(k, 0, null, null, null, null, tooFew(k, rows));
    List<PassAtK> tasks = new ArrayList<>();
    for (Row row : entered) {
      Integer passes = row.passes(pass);
      if (passes != null) tasks.add(new PassAtK(row.samples(), passes));
    }
    if (tasks.size() < entered.size()) {
      return new At(k, entered.size(), null, null, null, null, unknown(pass, entered));
    }
    TaskMean mean = PassAtK.taskMean(tasks, k);
    return new At(
        k,
        tasks.size(),
        mean.value(),
        mean.low(),
        mean.high(),
        PassAtK.taskMeanOfAll(tasks, k),
        null);
  }

  private static String tooFew(int k, List<Row> rows) {
    int most = rows.stream().mapToInt(Row::samples).max().orElse(0);
    return "no task has %d judged samples; the most is %d".formatted(k, most);
  }

  private static String unknown(Pass pass, List<Row> rows) {
    if (pass == Pass.GENERAL) {
      long tasks = rows.stream().filter(row -> row.general() == null).count();
      return "tasks with correct samples of which the general grade is not known: " + tasks;
    }
    int untimed = rows.stream().mapToInt(Row::untimed).sum();
    return "correct samples without a speedup against eager: " + untimed;
  }
}
