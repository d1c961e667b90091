package dev.kbx.facts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.program.Kernel.Config;
import dev.kbx.program.Program;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FactsTest {
  private static final Facts FACTS =
      Facts.of(
          Program.of(
              """
              import torch
              import triton
              import triton.language as tl

              @triton.autotune([triton.Config({"BLOCK": 64}, num_warps=4, num_stages=2)], ["n"])
              @triton.heuristics({"EVEN": lambda args: True})
              @triton.jit
              def product(a, b, out, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
                  i = tl.arange(0, BLOCK)
                  x = tl.dot(tl.load(a + i), tl.load(b + i))
                  tl.atomic_add(out, tl.sum(x), sem="relaxed")
                  tl.store(out, tl.max(x))

              @triton.jit
              def fill(out, VALUE: tl.constexpr, SIZE: tl.constexpr):
                  tl.store(out + tl.arange(0, SIZE), VALUE)

              def entry(a, b):
                  out = torch.empty(4, device=a.device)
                  fill[(1,)](out, 0.5, SIZE=2 * 2, num_warps=2)
                  product[lambda meta: (triton.cdiv(4, meta["BLOCK"]),)](a, b, out, 4)
                  return torch.relu(out)
              """));

  @Test
  void describesKernels() {
    KernelFacts product = FACTS.kernels().getFirst();
    assertThat(product.name()).isEqualTo("product");
    assertThat(product.line()).isEqualTo(8);
    assertThat(product.parameters()).containsExactly("a", "b", "out", "n", "EVEN", "BLOCK");
    assertThat(product.constexprs()).containsExactlyInAnyOrder("EVEN", "BLOCK");
    assertThat(product.operations())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "arange", 1, "dot", 1, "load", 2, "atomic_add", 1, "sum", 1, "store", 1, "max", 1));
    assertThat(product.loads()).isEqualTo(2);
    assertThat(product.stores()).isEqualTo(1);
    assertThat(product.dots()).isEqualTo(1);
    assertThat(product.atomics()).isEqualTo(1);
    assertThat(product.reductions()).isEqualTo(2);
    assertThat(product.heuristic()).isTrue();
    assertThat(product.configs())
        .containsExactly(
            new Config(Map.of("BLOCK", 64L), Map.of("num_warps", 4L, "num_stages", 2L)));
    assertThat(FACTS.kernels().getLast().heuristic()).isFalse();
  }

  @Test
  void describesLaunches() {
    assertThat(FACTS.launches())
        .containsExactly(
            new LaunchFacts(
                List.of("fill"), 20, "(1,)", Map.of("VALUE", 0.5, "SIZE", 4L, "num_warps", 2L)),
            new LaunchFacts(
                List.of("product"),
                21,
                "lambda meta: (triton.cdiv(4, meta[\"BLOCK\"]),)",
                Map.of()));
  }

  @Test
  void countsWhatTheHostCalls() {
    assertThat(FACTS.hostCalls())
        .containsExactlyInAnyOrderEntriesOf(Map.of("torch.empty", 1, "torch.relu", 1));
  }

  @Test
  void brokenSourceHasNoFacts() {
    assertThat(Facts.of(Program.of("def f(:\n  @@ ]")).kernels()).isEmpty();
  }
}
