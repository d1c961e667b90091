package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.Optional;
import java.util.Set;

/** Code is run that the file does not show. */
final class HiddenCode implements Rule {
  private static final Set<String> RUNS =
      Set.of("builtins.exec", "builtins.eval", "builtins.compile");

  private static final Set<String> MADE =
      Set.of(
          "types.CodeType", "types.FunctionType", "marshal.loads", "code.InteractiveInterpreter");

  private static final Set<String> DECODERS =
      Set.of(
          "base64.b64decode",
          "base64.b32decode",
          "base64.b16decode",
          "base64.b85decode",
          "base64.a85decode",
          "base64.decodebytes",
          "base64.urlsafe_b64decode",
          "binascii.unhexlify",
          "binascii.a2b_base64",
          "builtins.bytes.fromhex",
          "zlib.decompress",
          "gzip.decompress",
          "bz2.decompress",
          "lzma.decompress",
          "codecs.decode");

  @Override
  public RuleInfo about() {
    return new RuleInfo(
        "hidden-code",
        Severity.REJECT,
        "hidden code",
        "Text that is decoded or put together at run time and then executed is "
            + "written so that nobody reads it. Triton kernels need their source in "
            + "the file anyway.",
        "write the code down as code",
        "import base64\n" + "\n" + "exec(base64.b64decode('cGFzcw=='))\n");
  }

  @Override
  public void check(Subject subject, Report report) {
    Judged judged = subject.judged();
    boolean decodes = !judged.calls(DECODERS::contains).isEmpty();
    for (Call call : judged.calls(RUNS::contains)) {
      Optional<Node> text = call.argument(0, "source");
      if (text.isEmpty()) continue;
      if (!readable(subject.program(), text.get())) {
        report.found(call.place(), "runs code that the file does not show");
      } else if (decodes) {
        report.found(call.place(), "runs code that it decodes first");
      }
    }
    for (Call call : judged.calls(MADE::contains)) {
      report.found(call.place(), "makes a function from parts that the file does not show");
    }
  }

  /** A text that can be read, or a code object from one that is reported where it is compiled. */
  private static boolean readable(Program program, Node text) {
    Set<String> paths = program.paths(text);
    return paths.isEmpty()
        ? !program.constants(text).isEmpty()
        : paths.stream().allMatch(path -> path.equals("builtins.compile()"));
  }
}
