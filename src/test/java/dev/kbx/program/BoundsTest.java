package dev.kbx.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
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

  static Stream<String> sources() {
    return Stream.of(
        "x = a" + ".b".repeat(20_000),
        "x = torch" + ".b".repeat(20_000),
        "x = " + "f(".repeat(10_000) + ")".repeat(10_000),
        "x = " + "[".repeat(10_000) + "]".repeat(10_000),
        "x = " + "(".repeat(10_000) + "1" + ")".repeat(10_000),
        "x = " + "1 + ".repeat(10_000) + "1",
        "x = " + "lambda: ".repeat(5_000) + "1",
        "x = " + "y = ".repeat(10_000) + "z",
        "@a\n".repeat(5_000) + "def f(): pass",
        many(5_000, "x# = x+1"),
        many(500, "class C#(C+1):\n  def m(self): return self.n+1().m()\n  n# = m"),
        many(1_000, "def f#(g): return g(f+1)"),
        many(1_000, "s += s"),
        many(300, "exec('exec(\"x# = 1\")')"),
        "t = 'exec(t)'\nexec(t)",
        "f = lambda g: g(f)\nf(f)",
        "while True:\n  n = n + 1 if n else 0",
        "D = {}\n" + many(1_000, "D['#'] = lambda v: D[v](D)") + "\nD[x](D)");
  }

  @ParameterizedTest
  @MethodSource("sources")
  void readsAnything(String source) {
    assertTimeoutPreemptively(
        Duration.ofMinutes(1),
        () -> {
          Program program = Programs.of(source);
          assertThat(program.calls().size() + program.reachable("x").size()).isNotNegative();
        });
  }
}
