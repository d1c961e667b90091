package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds values that are copied to the CPU, changed there and copied back. */
final class CpuOffload implements Rule {
  private static final Set<String> BACK = Set.of("torch.from_numpy", "torch.frombuffer");

  /** Functions that make tensors of host values. */
  private static final Set<String> MADE = Set.of("torch.as_tensor", "torch.tensor");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "cpu-offload",
        Severity.REJECT,
        "computation on the CPU",
        "What NumPy or Python computes on the CPU is no GPU kernel, and a clock on the"
            + " device does not see it.",
        "compute on the device, in the kernel",
        """
        import torch


        def kernel_function(x):
            return torch.from_numpy(x.cpu().numpy() * 2).cuda()
        """);
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    Program program = context.program();
    List<Call> there = reachable.calls(path -> path.startsWith("?") && path.endsWith(".numpy"));
    boolean back =
        !reachable.calls(BACK::contains).isEmpty()
            || reachable.calls(MADE::contains).stream().anyMatch(call -> mayReturn(program, call));
    if (there.isEmpty() || !back) return;
    BranchAnalysis branches = new BranchAnalysis(program);
    for (Call call : there) {
      String message = "copies values to the CPU, computes there and copies results back";
      // Where a branch does so, the run tells whether an input reaches it.
      if (branches.conditional(call)) report.noted(call.place(), message);
      else report.found(call.place(), message);
    }
  }

  /** False for constants and for code that runs while the file is imported. */
  private static boolean mayReturn(Program program, Call call) {
    boolean imported =
        call.scope().kind() == Scope.Kind.MODULE || call.scope().kind() == Scope.Kind.CLASS;
    return !imported
        && call.argument(0, "data").filter(d -> program.constant(d).isPresent()).isEmpty();
  }

  /** Which calls of a file only a branch makes: one that no input may reach. */
  private static final class BranchAnalysis {
    private static final String[] BRANCHES = {
      "if_statement",
      "conditional_expression",
      "boolean_operator",
      "match_statement",
      "except_clause"
    };

    private final Program program;
    private final Map<Scope, Boolean> known = new HashMap<>();

    BranchAnalysis(Program program) {
      this.program = program;
    }

    /** Whether a call is in a branch, or in a function that only branches call by its name. */
    boolean conditional(Call call) {
      return program.inside(call.node(), BRANCHES) || conditional(call.scope());
    }

    private boolean conditional(Scope scope) {
      if (scope.kind() == Scope.Kind.MODULE) return false;
      Boolean found = known.get(scope);
      if (found != null) return found;
      known.put(scope, false); // A recursive call is no branch of its own.
      List<Call> callers = program.calls().stream().filter(call -> call.of(scope.path())).toList();
      boolean conditional =
          scope.kind() == Scope.Kind.FUNCTION
              && !callers.isEmpty()
              && callers.stream().allMatch(this::conditional);
      known.put(scope, conditional);
      return conditional;
    }
  }
}
