package dev.kbx.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.kbx.Patience;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever the source, a program is read in seconds and without deep recursion. */
class BoundsTest {
  private static String many(int count, String line) {
    return IntStream.range(0, count)
        .mapToObj(i -> line.replace("#", "" + i).replace("+1", "" + (i + 1) % count))
        .collect(Collectors.joining("\n"));
  }

  /** Lines of which each uses the one before. */
  private static String chain(int count, String line) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> line.replace("-1", "" + (i - 1)).replace("#", "" + i))
        .collect(Collectors.joining("\n"));
  }

  static Stream<String> sources() {
    return Stream.of(
        "x = a" + ".b".repeat(20_000),
        "x = torch" + ".b".repeat(20_000),
        "x = " + "f(".repeat(10_000) + ")".repeat(10_000),
        "x = " + "[".repeat(10_000) + "]".repeat(10_000),
        "x = " + "(".repeat(10_000) + "1" + ")".repeat(10_000),
        "x = " + "1 + ".repeat(10_000) + "1",
        "x = " + "vars(".repeat(10_000) + "0" + ")".repeat(10_000),
        "from functools import partial\nf = "
            + "partial(".repeat(10_000)
            + "g"
            + ", 1)".repeat(10_000)
            + "\nf(2)",
        "x = " + "lambda: ".repeat(5_000) + "1",
        "x = " + "y = ".repeat(10_000) + "z",
        "@a\n".repeat(5_000) + "def f(): pass",
        many(5_000, "x# = x+1"),
        many(500, "class C#(C+1):\n  def m(self): return self.n+1().m()\n  n# = m"),
        many(1_000, "def f#(g): return g(f+1)"),
        many(1_000, "s += s"),
        many(300, "exec('exec(\"x# = 1\")')"),
        "import triton\n" + many(11_000, "@triton.jit\ndef k#(): pass") + many(5_000, "\nk#[1]()"),
        "import triton\n"
            + many(4_000, "@triton.autotune(configs=[])\n@triton.jit\ndef k#(): pass"),
        "f(" + "*a, ".repeat(5_000) + ")",
        "t = 'exec(t)'\nexec(t)",
        "f = lambda g: g(f)\nf(f)",
        "while True:\n  n = n + 1 if n else 0",
        "x0 = [0] + [0]\n" + chain(40, "x# = [x-1] + [x-1]"),
        "x0 = [1]\n" + chain(10_000, "x# = [x-1] + []"),
        "x0 = 1\n" + chain(8, "x# = [" + "x-1, ".repeat(20) + "]") + "\nprint(x8)",
        "x0 = 1\n" + chain(4, "x# = [" + "x-1, ".repeat(20) + "]") + many(5_000, "\nprint(x4)"),
        many(25_000, "x# = 'x' * 262143"),
        "a = ('a,' * 131071).split(',')\n" + many(20_000, "x# = a"),
        "s = 'x' * 262143\n" + many(20_000, "x# = s[5]"),
        "s = 'x' * 262143\n" + many(10_000, "for c# in s: f(c#)"),
        "x = ('{0}' * 80_000).format('x' * 262143)",
        "x = ('%s' * 80_000) % (" + "'x' * 262143,".repeat(10_000) + ")",
        "x = [('x' * 262143)[i] for i in (" + "1,".repeat(10_000) + ")]",
        "a = 1\nx = f'" + "{a}".repeat(20_000) + "'",
        "D = {}\n" + many(1_000, "D['#'] = lambda v: D[v](D)") + "\nD[x](D)");
  }

  private static long constants(Program program) {
    return program.calls().stream()
        .flatMap(call -> call.arguments().stream())
        .mapToLong(argument -> program.constants(argument).size())
        .sum();
  }

  @ParameterizedTest
  @MethodSource("sources")
  void readsAnyText(String source) {
    assertTimeoutPreemptively(
        Patience.LIMIT,
        () -> {
          Program program = Programs.of(source);
          assertThat(program.reachable("x").size() + constants(program)).isNotNegative();
        });
  }
}
