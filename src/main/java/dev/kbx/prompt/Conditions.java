package dev.kbx.prompt;

import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.task.Policy;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The conditions that a run's prompts are written under. Each is a factor that analyses can group
 * by.
 *
 * @param hardware whether prompts describe the device
 * @param advice whether they have advice for the task's category
 * @param grade which calls the statement describes
 * @param policy who may compute the result
 * @param precision what modules are cast to
 */
public record Conditions(
    Shots shots,
    boolean hardware,
    boolean advice,
    Language language,
    FeedbackKind feedback,
    History history,
    Format format,
    Grade grade,
    Policy policy,
    ModulePrecision precision) {

  /** Names and values of all factors, in the order of the components. */
  public Map<String, String> factors() {
    Map<String, String> factors = new LinkedHashMap<>();
    factors.put("shots", shots.label());
    factors.put("hardware", String.valueOf(hardware));
    factors.put("advice", String.valueOf(advice));
    factors.put("language", language.label());
    factors.put("feedback", feedback.label());
    factors.put("history", history.label());
    factors.put("format", format.label());
    factors.put("grade", grade.label());
    factors.put("policy", policy.label());
    factors.put("precision", precision.label());
    return Collections.unmodifiableMap(factors);
  }
}
