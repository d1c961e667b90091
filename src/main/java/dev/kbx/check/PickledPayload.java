package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import java.util.Set;

/** Objects say what runs when they are unpickled, or something is unpickled. */
final class PickledPayload implements Rule {
  private static final Set<String> METHODS = Set.of("__reduce__", "__reduce_ex__");

  private static final Set<String> LOADS =
      Set.of(
          "pickle.load",
          "pickle.loads",
          "pickle.Unpickler",
          "_pickle.loads",
          "cloudpickle.loads",
          "cloudpickle.load",
          "dill.loads",
          "dill.load",
          "marshal.loads",
          "marshal.load",
          "joblib.load");

  @Override
  public About about() {
    return new About(
        "pickled-payload",
        Severity.REJECT,
        "a pickled payload",
        "An object with its own __reduce__ runs code in whoever unpickles it. "
            + "kbx never does, so this can only be an attempt.",
        "return tensors and plain values",
        "import os\n"
            + "\n"
            + "\n"
            + "class Payload:\n"
            + "    def __reduce__(self):\n"
            + "        return os.system, ('true',)\n");
  }

  @Override
  public void check(Subject subject, Report report) {
    Program program = subject.program();
    program.scopes().stream()
        .filter(scope -> METHODS.contains(scope.name()))
        .filter(scope -> scope.parent().filter(p -> p.path().length() > 1).isPresent())
        .forEach(scope ->
            report.found(
                program.place(scope.node()), scope.name() + " runs in whoever unpickles it"));
    for (Call call : new Judged(subject).calls(LOADS::contains)) {
      report.found(call.place(), "unpickles data");
    }
  }
}
