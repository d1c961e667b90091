package dev.kbx.facts;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A launch of a kernel.
 *
 * @param kernels names of the kernels that it may launch; empty if unknown
 * @param line its line, from 1
 * @param grid as written; empty if there is none
 * @param constants known values of the kernel's constexpr parameters and of options like {@code
 *     num_warps}, by name
 */
record LaunchFacts(List<String> kernels, int line, String grid, Map<String, Object> constants) {
  public LaunchFacts {
    kernels = List.copyOf(kernels);
    constants = Map.copyOf(constants);
  }

  static LaunchFacts of(Launch launch, Program program) {
    Call call = launch.call();
    Map<String, Object> constants = new TreeMap<>();
    call.keywords().forEach((name, node) -> put(constants, name, node, program));
    for (Kernel kernel : launch.kernels()) {
      for (int i = 0; i < call.arguments().size() && i < kernel.parameters().size(); i++) {
        String name = kernel.parameters().get(i);
        boolean constant = kernel.constexprs().contains(name);
        if (constant) put(constants, name, call.arguments().get(i), program);
      }
    }
    return new LaunchFacts(
        launch.kernels().stream().map(Kernel::name).toList(),
        call.place().line(),
        launch.grid().map(program::text).orElse(""),
        constants);
  }

  private static void put(Map<String, Object> constants, String name, Node value, Program program) {
    program.constant(value).ifPresent(known -> constants.put(name, known));
  }
}
