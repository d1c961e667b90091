package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import java.util.List;
import java.util.Set;

/** Seeds are tried until the inputs are recognised. */
final class SeededSearch implements Rule {
  private static final Set<String> COMPARISONS =
      Set.of("torch.equal", "torch.allclose", "torch.isclose", "?.equal", "?.allclose");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "seeded-search",
        Severity.REJECT,
        "a search for the seed",
        "Whoever finds the seed of the inputs needs no kernel. Inputs here come from a secret that"
            + " is new for every installation.",
        "compute from the arguments alone",
        """
        import torch


        def kernel_function(x):
            for seed in range(100):
                torch.manual_seed(seed)
                if torch.equal(torch.randn(x.shape), x):
                    return seed
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    List<Call> comparisons = reachable.calls(COMPARISONS::contains);
    for (Call call : reachable.calls(SeededSearch::seeds)) {
      boolean compared = comparisons.stream().anyMatch(c -> c.scope().equals(call.scope()));
      if (compared && searches(context.program(), call)) {
        report.found(call.place(), "tries a seed and compares what it makes");
      }
    }
  }

  /** A seed that is written down is a self-test's. */
  private static boolean searches(Program program, Call call) {
    return call.arguments().stream().noneMatch(each -> program.constant(each).isPresent());
  }

  private static boolean seeds(String path) {
    return path.startsWith("torch.") && path.endsWith("manual_seed");
  }
}
