package dev.kbx.app;

import dev.kbx.analysis.EnvironmentMatrix;
import dev.kbx.analysis.EnvironmentMatrix.Identity;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Reading;
import dev.kbx.error.InputException;
import dev.kbx.verdict.RunLabel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges the same candidates under several environments, a run for each, into one results folder.
 * What was judged there before under the same versions is remembered, so the same command goes on
 * where an earlier one was cut off.
 */
public final class MatrixRun {
  private final Request request;
  private final List<List<JudgedRun>> runs = new ArrayList<>();
  private final IdentityHashMap<VerdictRow, @Nullable String> messages = new IdentityHashMap<>();

  /**
   * What is judged, by what, and where.
   *
   * @param environments what judges, in the order of versions
   * @param bisect whether only the first and the last environment judge all candidates, and those
   *     between only what differs
   */
  public record Request(
      RunPlan asked,
      List<Path> sources,
      ResultsFolder results,
      List<JudgingSettings> environments,
      boolean bisect) {
    public Request {
      sources = List.copyOf(sources);
      environments = List.copyOf(environments);
      if (environments.size() < 2) {
        throw new InputException(
            "one environment is no matrix; name more, as in --triton 3.6,3.9, or use kbx eval");
      }
    }
  }

  private MatrixRun(Request request) {
    this.request = request;
    request.environments().forEach(_ -> runs.add(new ArrayList<>()));
  }

  /** Judges, and compares the verdicts. Throws as {@link Evaluation#open} does. */
  public static EnvironmentMatrix of(Request request) throws IOException, InterruptedException {
    MatrixRun matrix = new MatrixRun(request);
    int last = request.environments().size() - 1;
    if (request.bisect()) {
      matrix.judge(0, _ -> true);
      matrix.judge(last, _ -> true);
      matrix.bisect(0, last, matrix.differing(0, last, _ -> true));
    } else {
      for (int i = 0; i <= last; i++) matrix.judge(i, _ -> true);
    }
    return EnvironmentMatrix.of(matrix.runs, matrix.messages::get);
  }

  /** Judges what differs between two environments half way between them, and so on. */
  private void bisect(int low, int high, Set<Identity> differing)
      throws IOException, InterruptedException {
    if (differing.isEmpty() || high - low < 2) return;
    int middle = (low + high) >>> 1;
    judge(middle, differing::contains);
    Set<Identity> early = differing(0, middle, differing::contains);
    Set<Identity> late = new HashSet<>(differing);
    late.removeAll(early);
    bisect(low, middle, early);
    bisect(middle, high, late);
  }

  /** Kernels whose verdicts differ in two environments. */
  private Set<Identity> differing(int one, int other, Predicate<Identity> wanted) {
    Map<Identity, VerdictRow> before = rows(one);
    return rows(other).entrySet().stream()
        .filter(each -> wanted.test(each.getKey()))
        .filter(each -> {
          VerdictRow first = before.get(each.getKey());
          return first != null && EnvironmentMatrix.differ(first, each.getValue());
        })
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private Map<Identity, VerdictRow> rows(int environment) {
    Map<Identity, VerdictRow> rows = new HashMap<>();
    runs.get(environment)
        .forEach(run -> run.rows().forEach(row -> rows.put(Identity.of(row), row)));
    return rows;
  }

  private void judge(int environment, Predicate<Identity> wanted)
      throws IOException, InterruptedException {
    JudgingSettings settings = request.environments().get(environment);
    String triton = settings.interpreter().versions().getOrDefault("triton", "unknown");
    settings
        .observer()
        .note(
            "environment %d of %d: triton %s"
                .formatted(environment + 1, request.environments().size(), triton));
    RunPlan asked = request.asked().labelled(new RunLabel("matrix triton " + triton, null));
    var evaluated =
        new Evaluation.Request(asked, request.sources(), request.results(), false, false);
    try (Evaluation evaluation = Evaluation.open(evaluated, settings.observer());
        JudgingPool pool =
            JudgingPool.start(settings, List.of(asked.suite().suite()), asked.plan())) {
      Reading reading = chosen(evaluation.reading(), wanted);
      evaluation.begin(pool, reading);
      String run = evaluation.judge().run().id();
      runs.get(environment)
          .addAll(
              NamedRun.read(
                  List.of(run),
                  request.results(),
                  (row, verdict) -> messages.put(row, verdict.message())));
    }
  }

  private static Reading chosen(Reading all, Predicate<Identity> wanted) {
    List<Candidate> candidates =
        all.candidates().stream().filter(each -> wanted.test(identity(each))).toList();
    return new Reading(candidates, all.problems(), all.unselected());
  }

  private static Identity identity(Candidate candidate) {
    return new Identity(
        candidate.task().category(),
        candidate.task().name(),
        candidate.task().suite(),
        candidate.hash());
  }
}
