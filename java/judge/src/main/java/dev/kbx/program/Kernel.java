package dev.kbx.program;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A function that Triton compiles.
 *
 * @param scope its definition
 * @param constexprs parameters that are compile-time constants
 * @param operations its calls of {@code triton.language}, in source order
 * @param configs the configurations of {@code triton.autotune}; empty where there are none or they
 *     are unknown
 */
public record Kernel(
    String name,
    Scope scope,
    List<String> parameters,
    Set<String> constexprs,
    List<Call> operations,
    List<Config> configs) {
  public Kernel {
    parameters = List.copyOf(parameters);
    constexprs = Collections.unmodifiableSet(new LinkedHashSet<>(constexprs));
    operations = List.copyOf(operations);
    configs = List.copyOf(configs);
  }

  /**
   * One {@code triton.Config}.
   *
   * @param values constants of its dictionary
   * @param options constant keyword arguments: {@code num_warps}, {@code num_stages}, …
   */
  public record Config(Map<String, Object> values, Map<String, Object> options) {
    public Config {
      values = Map.copyOf(values);
      options = Map.copyOf(options);
    }
  }
}
