package dev.kbx.facts;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Kernel.Config;
import dev.kbx.program.Program;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A Triton kernel.
 *
 * @param line of its definition, from 1
 * @param operations number of uses of each operation of {@code triton.language}
 * @param loads loads in the source, like stores, dots, atomics and reductions
 * @param configs configurations of autotuning
 * @param heuristic some of its constants are computed by {@code triton.heuristics}
 */
record KernelFacts(
    String name,
    int line,
    List<String> parameters,
    Set<String> constexprs,
    Map<String, Integer> operations,
    int loads,
    int stores,
    int dots,
    int atomics,
    int reductions,
    List<Config> configs,
    boolean heuristic) {
  private static final String LANGUAGE = "triton.language.";
  private static final Set<String> LOADS = Set.of("load", "load_tensor_descriptor");
  private static final Set<String> STORES = Set.of("store", "store_tensor_descriptor");
  private static final Set<String> DOTS = Set.of("dot", "dot_scaled");
  private static final Set<String> REDUCTIONS =
      Set.of(
          "sum",
          "max",
          "min",
          "argmax",
          "argmin",
          "reduce",
          "xor_sum",
          "reduce_or",
          "associative_scan",
          "cumsum",
          "cumprod",
          "sort",
          "histogram");

  public KernelFacts {
    parameters = List.copyOf(parameters);
    constexprs = Collections.unmodifiableSet(new LinkedHashSet<>(constexprs));
    operations = Map.copyOf(operations);
    configs = List.copyOf(configs);
  }

  static KernelFacts of(Kernel kernel, Program program) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Call call : kernel.operations()) {
      for (String target : call.targets()) {
        if (target.startsWith(LANGUAGE)) {
          counts.merge(target.substring(LANGUAGE.length()), 1, Integer::sum);
        }
      }
    }
    int atomics =
        counts.entrySet().stream()
            .filter(each -> each.getKey().startsWith("atomic_"))
            .mapToInt(Map.Entry::getValue)
            .sum();
    return new KernelFacts(
        kernel.name(),
        program.place(kernel.scope().node()).line(),
        kernel.parameters(),
        kernel.constexprs(),
        counts,
        total(counts, LOADS),
        total(counts, STORES),
        total(counts, DOTS),
        atomics,
        total(counts, REDUCTIONS),
        kernel.configs(),
        kernel.scope().decorators().stream()
            .flatMap(each -> program.paths(each).stream())
            .anyMatch(path -> path.endsWith("heuristics()")));
  }

  private static int total(Map<String, Integer> counts, Set<String> names) {
    return names.stream().mapToInt(name -> counts.getOrDefault(name, 0)).sum();
  }
}
