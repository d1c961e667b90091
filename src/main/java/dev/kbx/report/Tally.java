package dev.kbx.report;

import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts over a run's verdicts, shared by all outputs so that they agree.
 *
 * @param call whether the call stage was asked for
 * @param correct whether the correctness stage was asked for
 * @param perf whether candidates were timed here
 * @param asked the tasks that count: rates leave out candidates of variants beside them
 */
record Tally(boolean call, boolean correct, boolean perf, AskedTasks asked) {

  /**
   * Passes of some candidates by stage.
   *
   * @param name of the category, or what is counted
   * @param candidates all of them
   * @param notJudged those that neither passed nor failed, because the task or kbx was at fault;
   *     not part of the rates
   * @param call null where that stage was not measured
   */
  record Passes(
      String name,
      int candidates,
      int notJudged,
      @Nullable Rate call,
      @Nullable Rate correct,
      @Nullable Rate perf) {

    /** What to say in place of a rate that is null. */
    String unknown() {
      return notJudged > 0 && notJudged == candidates ? "none judged" : "not measured";
    }
  }

  static Tally of(RunInfo run, List<Verdict> verdicts, AskedTasks asked) {
    boolean timed = verdicts.stream().anyMatch(v -> v.perfOk() != null);
    boolean gpu = !run.device().kind().equals("cpu");
    return new Tally(
        run.stages().contains(Stage.CALL),
        run.stages().contains(Stage.CORRECT),
        run.stages().contains(Stage.PERF) && (gpu || timed),
        asked);
  }

  /** By category, task and sample: the order of every output, whatever was judged first. */
  static List<Verdict> sorted(List<Verdict> verdicts) {
    return verdicts.stream()
        .sorted(
            Comparator.comparing(Verdict::category)
                .thenComparing(Verdict::task)
                .thenComparingInt(Verdict::sample))
        .toList();
  }

  /** Statuses that occur, in the enum's order. */
  static Map<Status, Integer> byStatus(Collection<Verdict> verdicts) {
    var counts = new EnumMap<Status, Integer>(Status.class);
    for (Verdict verdict : verdicts) counts.merge(verdict.status(), 1, Integer::sum);
    return counts;
  }

  /** Categories that occur, by name; rates are over the candidates judged. */
  List<Passes> byCategory(Collection<Verdict> verdicts) {
    Map<String, List<Verdict>> categories =
        counted(verdicts).stream()
            .collect(Collectors.groupingBy(Verdict::category, TreeMap::new, Collectors.toList()));
    return categories.entrySet().stream().map(e -> candidates(e.getKey(), e.getValue())).toList();
  }

  /** All candidates that count as one line. */
  Passes candidates(String name, Collection<Verdict> verdicts) {
    List<Verdict> counted = counted(verdicts);
    List<Verdict> judged = counted.stream().filter(Tally::isJudged).toList();
    return new Passes(
        name,
        counted.size(),
        counted.size() - judged.size(),
        call ? rate(count(judged, v -> isTrue(v.callOk())), judged.size()) : null,
        correct ? rate(count(judged, Tally::isCorrect), judged.size()) : null,
        perf ? rate(count(judged, v -> isTrue(v.perfOk())), judged.size()) : null);
  }

  /** Tasks with at least one passing candidate, over all tasks of the suite asked for. */
  Passes tasks(String name, Collection<Verdict> verdicts) {
    List<Verdict> counted = counted(verdicts);
    int tasks = asked.total();
    return new Passes(
        name,
        counted.size(),
        Math.toIntExact(counted.stream().filter(v -> !isJudged(v)).count()),
        call ? rate(tasksOf(counted, v -> isTrue(v.callOk())), tasks) : null,
        correct ? rate(tasksOf(counted, Tally::isCorrect), tasks) : null,
        perf ? rate(tasksOf(counted, v -> isTrue(v.perfOk())), tasks) : null);
  }

  /** How many of the tasks asked for have a candidate. */
  long submitted(Collection<Verdict> verdicts) {
    return tasksOf(counted(verdicts), _ -> true);
  }

  /** Verdicts on the tasks asked for. */
  List<Verdict> counted(Collection<Verdict> verdicts) {
    return verdicts.stream().filter(asked::has).toList();
  }

  /** How many are of variants, and so in no rate. */
  int extra(Collection<Verdict> verdicts) {
    return verdicts.size() - counted(verdicts).size();
  }

  /** Different tasks with a verdict that {@code wanted} accepts. */
  static long tasksOf(Collection<Verdict> verdicts, Predicate<Verdict> wanted) {
    return verdicts.stream().filter(wanted).map(Tally::taskOf).distinct().count();
  }

  static String taskOf(Verdict verdict) {
    return verdict.category() + "/" + verdict.task();
  }

  /** The task, and the sample's number where it is not the first: {@code Math/exp#1}. */
  static String nameOf(Verdict verdict) {
    return taskOf(verdict) + (verdict.sample() == 0 ? "" : "#" + verdict.sample());
  }

  static boolean isJudged(Verdict verdict) {
    return switch (verdict.status().blame()) {
      case NOBODY, CANDIDATE -> true;
      case TASK, KBX -> false;
    };
  }

  /**
   * Whether it got through the correctness stage and was not refuted since: timed calls are checked
   * like all others. One that only failed to be timed, by a timeout or a crash, stays correct.
   */
  static boolean isCorrect(Verdict verdict) {
    return isTrue(verdict.exeOk()) && !isRefuted(verdict);
  }

  /** Whether its results are wrong or not its own, at whatever stage that was seen. */
  static boolean isRefuted(Verdict verdict) {
    return switch (verdict.status()) {
      case WRONG_STRUCTURE,
          WRONG_SHAPE,
          WRONG_DTYPE,
          WRONG_DEVICE,
          WRONG_VALUES,
          NONDETERMINISTIC,
          INPUT_MUTATED,
          CHEATING ->
          true;
      case CORRECT,
          REJECTED_STATIC,
          NO_CODE,
          NO_ENTRY,
          SYNTAX_ERROR,
          IMPORT_ERROR,
          COMPILE_ERROR,
          RUNTIME_ERROR,
          TIMEOUT,
          OUT_OF_MEMORY,
          CRASHED,
          INVALID_TASK,
          INFRASTRUCTURE ->
          false;
    };
  }

  static boolean isTrue(@Nullable Boolean flag) {
    return Objects.equals(flag, true);
  }

  private static long count(Collection<Verdict> verdicts, Predicate<Verdict> wanted) {
    return verdicts.stream().filter(wanted).count();
  }

  private static @Nullable Rate rate(long passes, long total) {
    return total == 0 ? null : new Rate(passes, total);
  }
}
