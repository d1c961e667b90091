package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.ExecutedText;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds code that is run, and names that are looked up, without being readable in the file. */
final class HiddenCode implements Rule {
  private static final Set<String> RUNS =
      Set.of("builtins.exec", "builtins.eval", "builtins.compile");

  /** A builtin whose name is not a constant. */
  private static final String SOME_BUILTIN = "builtins.?";

  private static final Set<String> MADE =
      Set.of(
          "types.CodeType", "types.FunctionType", "marshal.loads", "code.InteractiveInterpreter");

  private static final Set<String> LOOKUPS =
      Set.of(
          "builtins.getattr",
          "builtins.setattr",
          "builtins.delattr",
          "builtins.__import__",
          "importlib.import_module",
          "operator.attrgetter",
          "operator.methodcaller");

  /** Modules and functions that decode text, or put it together from characters. */
  private static final String[] DECODERS = {
    "base64",
    "binascii",
    "builtins.bytes.fromhex",
    "builtins.chr",
    "builtins.reversed",
    "bz2",
    "codecs",
    "gzip",
    "lzma",
    "zlib"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "hidden-code",
        Severity.REJECT,
        "hidden code",
        "No check reads the text that exec, eval or compile gets, and decoding it or a name"
            + " has no use but to hide it. Triton needs a kernel's source in the file anyway.",
        "write the code in the file itself, without exec, eval, compile or decoded names",
        "import base64\n" + "\n" + "exec(base64.b64decode('cGFzcw=='))\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    Program program = context.program();
    for (Call call : reachable.calls(RUNS::contains)) {
      call.argument(0, "source")
          .filter(code -> !harmless(program, code))
          .ifPresent(code -> report.found(call.place(), message(program, call, code)));
    }
    for (Call call : reachable.calls(SOME_BUILTIN::equals)) {
      report.found(call.place(), "calls a builtin whose name cannot be read in the file");
    }
    for (Call call : reachable.calls(MADE::contains)) {
      report.found(call.place(), "makes a function from a code object that is not in the file");
    }
    for (Call call : reachable.calls(LOOKUPS::contains)) {
      if (call.arguments().stream().anyMatch(argument -> decoded(program, argument))) {
        report.found(call.place(), "looks up a name that it decodes first");
      }
    }
  }

  private static String message(Program program, Call call, Node code) {
    String function = call.target(RUNS::contains).orElseThrow().substring("builtins.".length());
    if (decoded(program, code)) return function + " runs code that is decoded first";
    return program.constants(code).isEmpty()
        ? function + " runs code that cannot be read in the file"
        : function + " runs code that is hidden in a string";
  }

  /**
   * Arithmetic, a piece of a library's version, or a code object, which is reported where it is
   * compiled.
   */
  private static boolean harmless(Program program, Node code) {
    Set<String> paths = program.paths(code);
    Set<Object> constants = program.constants(code);
    return paths.stream()
            .allMatch(path -> path.equals("builtins.compile()") || ExecutedText.isVersion(path))
        && constants.stream().allMatch(ExecutedText::isArithmetic)
        && !(paths.isEmpty() && constants.isEmpty());
  }

  /** Whether an expression uses a decoder or a slice of a literal such as {@code "cexe"[::-1]}. */
  private static boolean decoded(Program program, Node text) {
    for (Node node : text.all()) {
      Node sliced = node.child("value");
      boolean part = node.is("subscript") && sliced != null && sliced.is("string");
      if (part || program.paths(node).stream().anyMatch(HiddenCode::decodes)) return true;
    }
    return false;
  }

  private static boolean decodes(String path) {
    return ReachableCode.below(path, DECODERS);
  }
}
