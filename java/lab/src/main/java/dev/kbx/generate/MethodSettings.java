package dev.kbx.generate;

import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.method.MethodOptions;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One method of a run, as asked for.
 *
 * @param name unique in the run; {@code method} of its verdicts
 * @param options which method, and its numbers
 * @param model as {@code --model} names it
 * @param parameters of its requests
 * @param samples trajectories for each task
 * @param factors conditions of its prompts, by name
 * @param perTask limits for each trajectory
 * @param inAll limits for all of this method's
 * @param start where kernels to begin from are; null to begin with nothing
 * @param prompts hash over all prompt files
 */
public record MethodSettings(
    String name,
    MethodOptions options,
    String model,
    Parameters parameters,
    int samples,
    Map<String, String> factors,
    Budget perTask,
    Budget inAll,
    @Nullable String start,
    String prompts) {
  public MethodSettings {
    factors = Map.copyOf(factors);
  }

  /** All that its kernels were generated under beside the model, by name: factors of analyses. */
  public Map<String, String> conditions() {
    Map<String, String> conditions = new TreeMap<>(factors);
    conditions.put("algorithm", options.method().label());
    conditions.put("turns", Integer.toString(options.turns()));
    conditions.put("width", Integer.toString(options.width()));
    conditions.put("tuning", Integer.toString(options.tuning()));
    conditions.put("answer", options.answer().label());
    conditions.put("reasoning", stated(parameters.reasoningEffort()));
    conditions.put("temperature", stated(parameters.temperature()));
    conditions.put("start", start == null ? "nothing" : start);
    conditions.put("prompts", prompts);
    return conditions;
  }

  private static String stated(@Nullable Object parameter) {
    return parameter == null ? "default" : parameter.toString();
  }
}
