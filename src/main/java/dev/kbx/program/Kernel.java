package dev.kbx.program;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A function that Triton compiles.
 *
 * @param scope its definition; its parameters and place are there
 * @param constexprs parameters that are compile-time constants
 * @param operations calls in it whose target is {@code triton.language.…}, in source order
 * @param configs what autotuning chooses from; empty without autotuning or where unreadable
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
   * @param values readable values of its dictionary
   * @param options readable keyword arguments: {@code num_warps}, {@code num_stages}, …
   */
  public record Config(Map<String, Object> values, Map<String, Object> options) {
    public Config {
      values = Map.copyOf(values);
      options = Map.copyOf(options);
    }
  }
}
