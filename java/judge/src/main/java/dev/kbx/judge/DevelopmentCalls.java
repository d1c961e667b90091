package dev.kbx.judge;

import dev.kbx.plan.Inputs;
import dev.kbx.worker.OracleMessage.PlannedCall;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The calls that are made for feedback. Every third case (shapes and options, in any values) is
 * kept for the final judgement, so that a kernel that holds for the cases it was told of alone is
 * found.
 */
final class DevelopmentCalls {
  private static final int KEPT_OF = 3;

  private DevelopmentCalls() {}

  static List<PlannedCall> of(Inputs inputs, List<PlannedCall> planned) {
    return switch (inputs) {
      case ALL -> planned;
      case DEVELOPMENT -> {
        Set<String> kept = kept(planned);
        yield planned.stream().filter(call -> !kept.contains(call.parameters())).toList();
      }
    };
  }

  /** Every third of the cases of the published grade, and of the others. */
  private static Set<String> kept(List<PlannedCall> planned) {
    Set<String> kept = new HashSet<>();
    for (boolean published : new boolean[] {true, false}) {
      List<String> cases = new ArrayList<>();
      for (PlannedCall call : planned) {
        if (call.published() == published && !cases.contains(call.parameters())) {
          cases.add(call.parameters());
        }
      }
      for (int i = KEPT_OF - 1; i < cases.size(); i += KEPT_OF) kept.add(cases.get(i));
    }
    return kept;
  }
}
