package dev.kbx.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProgramTest {
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
    Program program = Programs.of(KERNEL);
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
  void readsAutotuningAndIndirectKernels() {
    Program program =
        Programs.of(
            """
            import triton
            import triton.language as tl

            def configs():
                return [triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((64, 4), (128, 8))]

            TUNED = [triton.Config({"BLOCK": 64}, num_warps=4), triton.Config({"BLOCK": 128})]

            @triton.autotune(configs=TUNED, key=["n"])
            @triton.heuristics({"EVEN": lambda args: True})
            @triton.jit
            def scale(x, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
                tl.store(x, tl.load(x))

            def plain(x):
                pass

            KERNELS = {"scale": scale, "plain": triton.jit(plain)}

            def entry(x):
                KERNELS["scale"][lambda meta: (1,)](x, 3)
                KERNELS["plain"][(1,)](x)
                run = scale[(2,)]
                run(x, 3)
                scale.run(x, 3, grid=(3,))
                x.kernels[0](x)
            """);
    assertThat(program.kernels()).extracting(Kernel::name).containsExactly("scale", "plain");
    assertThat(program.kernels().getFirst().configs())
        .containsExactly(
            new Kernel.Config(Map.of("BLOCK", 64L), Map.of("num_warps", 4L)),
            new Kernel.Config(Map.of("BLOCK", 128L), Map.of()));
    assertThat(program.launches())
        .extracting(l -> l.kernels().stream().map(Kernel::name).toList())
        .containsExactly(
            List.of("scale"), List.of("plain"), List.of("scale"), List.of("scale"), List.of());
  }

  @Test
  void findsCodeThatMayRun() {
    Program program =
        Programs.of(
            """
            import torch
            from functools import partial

            def unused(): helper()
            def helper(): return leaf
            def leaf(): pass
            def callback(x): pass
            def loop(): return loop()

            class Layer(torch.nn.Module):
                def forward(self, x): return self.scaled(x)
                def scaled(self, x): return callback

            class Plain:
                def __call__(self, x): return x
                def never(self): pass

            PLAIN = Plain()

            def entry(x):
                layer = Layer()
                PLAIN(x)
                list(map(lambda y: helper(), x))
                loop()
                return layer(x)

            alias = partial(entry, 1)
            """);
    assertThat(program.reachable("alias"))
        .extracting(Scope::path)
        .containsExactlyInAnyOrder(
            "@entry",
            "@entry.<lambda>",
            "@helper",
            "@leaf",
            "@callback",
            "@loop",
            "@Layer",
            "@Layer.forward",
            "@Layer.scaled",
            "@Plain",
            "@Plain.__call__");
    assertThat(program.reachable("nothing")).isEmpty();
    assertThat(program.paths("alias")).containsExactly("@entry");
  }

  @Test
  void answersQueriesAboutNodes() {
    Program program =
        Programs.of(
            "def f(x):\n"
                + "  if x:\n"
                + "    try:\n"
                + "      g(1 + 1, 'a' * 2, [1, 'b'], x)\n"
                + "    finally: pass");
    Call call = program.calls().getFirst();
    assertThat(program.inside(call.node(), "if_statement")).isTrue();
    assertThat(program.inside(call.node(), "while_statement", "module")).isFalse();
    assertThat(program.scopeOf(call.node()).name()).isEqualTo("f");
    assertThat(call.arguments()).hasSize(4);
    assertThat(program.constant(call.arguments().get(0))).hasValue(2L);
    assertThat(program.constant(call.arguments().get(1))).hasValue("aa");
    assertThat(program.constant(call.arguments().get(2))).hasValue(List.of(1L, "b"));
    assertThat(program.constant(call.arguments().get(3))).isEmpty();
    assertThat(program.paths(call.arguments().get(3))).containsExactly("?");
  }

  @Test
  void findsBrokenAndEmptySource() {
    assertThat(Programs.of("").calls()).isEmpty();
    assertThat(Programs.of("def f(:").readable()).isFalse();
    assertThat(List.copyOf(Programs.of("f(g(1)").calls())).isNotEmpty();
  }

  @Test
  void moduleOfEmptyNameIsUnknown() {
    Program program =
        Programs.of(
            "import importlib\n"
                + "owner, _, name = 'x'.rpartition('.')\n"
                + "setattr(importlib.import_module(''), 'x', 1)\n"
                + "setattr(importlib.import_module(owner), name, 1)\n"
                + "importlib.import_module('').run()");
    assertThat(program.calls()).extracting(Call::targets).contains(Set.of("?.run"));
  }
}
