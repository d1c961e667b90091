package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.judge.Conditions;
import dev.kbx.judge.JudgeFingerprint;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Inputs;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Cache keys of judgements. A key covers everything that a judgement depends on: source, task file,
 * every component of the plan, the model and driver of the device, and versions, including the
 * judge's own fingerprint ({@link JudgeFingerprint}). Safe for several threads.
 *
 * <p>A task's file is read only once, as in the oracle.
 */
final class MemoKeys {
  private final Map<Task, Optional<String>> tasks = new ConcurrentHashMap<>();

  /**
   * Hex; equal for candidates that would get the same judgement under the same conditions. Empty if
   * that depends on what no key can cover: see {@link Task#contents}.
   */
  Optional<String> of(Candidate candidate, Plan plan) {
    Task task = candidate.task();
    return tasks
        .computeIfAbsent(task, Task::contents)
        .map(contents ->
            List.of(candidate.hash(), task.suite(), task.path(), conditions(plan, task), contents))
        .map(parts -> DigestUtils.sha256Hex(parts.toString()));
  }

  /** A new component of the plan breaks the match here, so it cannot be left out of the key. */
  private static String conditions(Plan plan, Task task) {
    return switch (plan) {
      case Plan(
              List<Stage> stages,
              Rules rules,
              String arch,
              String secret,
              Limits limits,
              Tolerance tolerance,
              Grade grade,
              ModulePrecision precision,
              Optional<Policy> _,
              Baseline baseline,
              L2State cache,
              boolean profile,
              boolean publishedAccounting,
              Inputs inputs) ->
          List.of(
                  stages.stream().map(Stage::label).toList(),
                  rules,
                  arch,
                  secret,
                  limits,
                  tolerance,
                  grade,
                  precision,
                  plan.policy(task),
                  baseline,
                  cache,
                  profile,
                  publishedAccounting,
                  inputs)
              .toString();
    };
  }

  /** Hex; key {@code of} a candidate that is judged under these conditions, on whichever card. */
  static String on(Conditions conditions, String of) {
    String versions = new TreeMap<>(conditions.versions()).toString();
    return DigestUtils.sha256Hex(conditions.onAnyCard().device() + versions + of);
  }
}
