package dev.kbx.facts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class FingerprintTest {
  private static Fingerprint of(String code) {
    return Fingerprint.of(PythonSource.parse(code));
  }

  private static String kernel() throws IOException {
    return Files.readString(Path.of("java/tests/src/test/resources/facts/kernel.py"));
  }

  @Test
  void namesNumbersAndLayoutAreIgnored() throws IOException {
    String renamed =
        kernel()
            .replace("row_sum", "sums")
            .replace("offsets", "o")
            .replace("1024", "512")
            .replace("  # in elements", "")
            .replace("\"\"\"Row sums by a Triton kernel.\"\"\"", "'''By me.'''")
            .replace("    ", "\t");
    assertThat(of(renamed)).isEqualTo(of(kernel()));
    assertThat(of(renamed).similarity(of(kernel()))).isEqualTo(1);
  }

  @Test
  void addedLineKeepsHighSimilarity() throws IOException {
    String more =
        kernel().replace("    rows, n = x.shape\n", "    rows, n = x.shape\n    x = x.t()\n");
    assertThat(of(more).exact()).isNotEqualTo(of(kernel()).exact());
    assertThat(of(more).similarity(of(kernel()))).isBetween(0.6, 0.99);
  }

  @Test
  void movedFunctionsKeepHighSimilarity() {
    String first = "def f(a):\n  return g(a.x, a.y, [a.z, 1], {a.w: 2}, *a.v) + h(a.u, k=a.t)\n";
    String second = "def g(b):\n  while b.p < b.q and b.r:\n    b.s = b.s.m(b.n)[b.o] - b.l // 2\n";
    assertThat(of(first + second).similarity(of(second + first))).isGreaterThan(0.5);
    assertThat(of(first).similarity(of(second))).isZero();
  }

  @Test
  void changedOperationChangesTheFingerprint() throws IOException {
    assertThat(of(kernel().replace("tl.sum", "tl.max")).exact()).isNotEqualTo(of(kernel()).exact());
  }

  @Test
  void emptySourcesEqualOnlyEachOther() throws IOException {
    assertThat(of("").similarity(of("# nothing"))).isEqualTo(1);
    assertThat(of("").similarity(of(kernel()))).isZero();
  }
}
