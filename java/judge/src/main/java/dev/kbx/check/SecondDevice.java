package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Finds use of a GPU other than the first. */
final class SecondDevice implements Rule {
  private static final Pattern OTHER = Pattern.compile("cuda:0*[1-9][0-9]*");

  private static final Set<String> BY_NUMBER =
      Set.of("torch.cuda.set_device", "torch.cuda.device", "?.cuda");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "second-device",
        Severity.REJECT,
        "a second GPU",
        "Events on one GPU do not time work on another. A candidate has one GPU, cuda:0.",
        "use the device of the arguments",
        """
        def kernel_function(x):
            return x.to("cuda:1")
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    for (Call call : context.reachable().calls(_ -> true)) {
      List<Node> values = new ArrayList<>(call.arguments());
      values.addAll(call.keywords().values());
      boolean number = call.targets().stream().anyMatch(BY_NUMBER::contains);
      for (Node value : values) {
        if (program.constants(value).stream().anyMatch(c -> other(c, number))) {
          report.found(call.place(), "names a GPU that is not the first");
        }
      }
    }
  }

  private static boolean other(Object constant, boolean number) {
    return (constant instanceof String text && OTHER.matcher(text).matches())
        || (number && constant instanceof Long index && index > 0);
  }
}
