package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds captured CUDA graphs. */
final class GraphReplay implements Rule {
  private static final Set<String> GRAPHS =
      Set.of(
          "torch.cuda.CUDAGraph",
          "torch.cuda.graph",
          "torch.cuda.graphs.CUDAGraph",
          "torch.cuda.graphs.graph",
          "torch.cuda.make_graphed_callables");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "graph-replay",
        Severity.FLAG,
        "a CUDA graph",
        "A CUDA graph replays launches on the memory it was captured with. With other inputs"
            + " it returns results of the old ones.",
        "launch the kernel directly",
        """
        import torch

        graph = torch.cuda.CUDAGraph()
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Call call : context.reachable().calls(GRAPHS::contains)) {
      report.found(call.place(), "captures a CUDA graph");
    }
  }
}
