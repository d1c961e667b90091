package dev.kbx.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.syntax.PythonSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgramTest {
  static Program of(String code) {
    return Program.of(PythonSource.parse(code.replace("; ", "\n").replace("\\n", "\n")));
  }

  /** Every path that something in the program may call. */
  static Set<String> called(String code) {
    return of(code).calls().stream().flatMap(c -> c.targets().stream()).collect(Collectors.toSet());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "import torch; torch.matmul(a, b) | torch.matmul",
        "import torch as t; t.nn.functional.gelu(a) | torch.nn.functional.gelu",
        "import torch.nn.functional as F; F.gelu(a) | torch.nn.functional.gelu",
        "from torch import matmul as m; m(a, b) | torch.matmul",
        "import torch; f = g = torch.matmul; f(a, b) | torch.matmul",
        "import torch; a, (b, c) = 1, (2, torch.mm); c(a, b) | torch.mm",
        "import torch; f = torch.mm if x else None; f(a) | torch.mm",
        "import torch; F = {'a': torch.mm}; F['a'](x) | torch.mm",
        "def f(x):\\n  return x.softmax(0) | ?.softmax",
        "import torch; torch.cuda.Event().record() | torch.cuda.Event().record",
        "exec('1') | builtins.exec",
      })
  void resolvesWhatIsCalled(String code, String path) {
    assertThat(called(code)).contains(path);
  }

  private static final String KERNEL =
      """
      import triton
      import triton.language as tl

      @triton.jit
      def copy(x, y, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

      def entry(x):
          y = x.clone()
          copy[(1,)](x, y, 4, BLOCK=16)
          return y
      """;

  @Test
  void findsKernelsAndLaunches() {
    Program program = of(KERNEL);
    Kernel kernel = program.kernels().getFirst();
    assertThat(kernel.parameters()).containsExactly("x", "y", "n", "BLOCK");
    assertThat(kernel.constexprs()).containsExactly("BLOCK");
    assertThat(kernel.operations()).hasSize(4);
    Launch launch = program.launches().getFirst();
    assertThat(launch.kernels()).containsExactly(kernel);
    assertThat(launch.scope().path()).isEqualTo("@entry");
    assertThat(program.text(launch.grid().orElseThrow())).isEqualTo("(1,)");
    assertThat(program.constant(launch.call().keyword("BLOCK").orElseThrow())).hasValue(16L);
    assertThat(program.reachable("entry")).extracting(Scope::path).contains("@entry", "@copy");
    assertThat(program.readable()).isTrue();
  }

  @Test
  void findsBrokenAndEmptySource() {
    assertThat(of("").calls()).isEmpty();
    assertThat(of("def f(:").readable()).isFalse();
    assertThat(List.copyOf(of("f(g(1)").calls())).isNotEmpty();
  }
}
