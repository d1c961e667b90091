package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import java.util.List;

/** Finds random tasks whose calls all draw the same values. */
final class FrozenRandomness implements Rule {
  /** Parts of the names of functions that may provide a new seed. */
  private static final List<String> SOURCES =
      List.of(
          "rand",
          "seed",
          "generator",
          "bernoulli",
          "uniform",
          "normal",
          "exponential",
          "multinomial",
          "binomial",
          "dropout",
          "time",
          "uuid",
          "secrets",
          "count",
          "clock",
          "asm",
          "data_ptr",
          "perf_",
          "builtins.next",
          "builtins.id",
          "builtins.open",
          "builtins.hash",
          "os.",
          "rrelu",
          "fractional_max_pool",
          "gumbel",
          "poisson",
          "cauchy",
          "geometric",
          "sample",
          "choice",
          "permutation",
          "shuffle");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "frozen-randomness",
        Severity.REJECT,
        "a random operation without randomness",
        "The task asks for new random values in every call. With a constant seed, or none,"
            + " every call draws the same values.",
        "take a seed from torch's generator in every call, int(torch.randint(1 << 31,"
            + " (1,)).item()), and pass it to tl.rand",
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
            + "def rand_kernel(out_ptr, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
            + "    tl.store(out_ptr + i, tl.rand(42, i))\n\n\n"
            + "def kernel_function(out):\n    rand_kernel[(1,)](out, BLOCK=16)\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    boolean random = context.task().filter(task -> task.tags().contains("random")).isPresent();
    if (!random || !context.wantsTriton() || !program.readable()) return;
    if (program.accesses().stream().anyMatch(FrozenRandomness::fresh) || remembers(program)) return;
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      Place place =
          program.calls().stream()
              .filter(call -> call.targets().stream().anyMatch(FrozenRandomness::draws))
              .map(call -> call.place())
              .findFirst()
              .orElse(entry.place());
      report.found(
          place, "every call draws the same random values: nothing here provides a new seed");
    }
  }

  private static boolean draws(String path) {
    return path.startsWith("triton.language.rand");
  }

  private static boolean fresh(Access access) {
    String path = access.path();
    return !draws(path) && SOURCES.stream().anyMatch(path::contains);
  }

  /** Whether the program keeps state between calls, such as a counter. */
  private static boolean remembers(Program program) {
    for (Node node : program.module().node().all()) {
      if (node.is("global_statement", "nonlocal_statement", "yield")) return true;
      if (!node.is("assignment", "augmented_assignment")) continue;
      Node left = node.child("left");
      if (left != null && left.is("attribute", "subscript")) return true;
    }
    return false;
  }
}
