package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import java.util.List;
import java.util.Set;

/** Finds searches for the seed that the inputs were drawn with. */
final class SeededSearch implements Rule {
  private static final Set<String> COMPARISONS =
      Set.of("torch.equal", "torch.allclose", "torch.isclose", "?.equal", "?.allclose");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "seeded-search",
        Severity.REJECT,
        "a search for the seed",
        "A candidate that finds the seed of the inputs can return stored answers. kbx"
            + " derives seeds from a secret of the installation.",
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
        report.found(
            call.place(), "seeds the generator and compares what it draws with the inputs");
      }
    }
  }

  /** A constant seed belongs to a self-test. */
  private static boolean searches(Program program, Call call) {
    return call.arguments().stream().noneMatch(each -> program.constant(each).isPresent());
  }

  private static boolean seeds(String path) {
    return path.startsWith("torch.") && path.endsWith("manual_seed");
  }
}
