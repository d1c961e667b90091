package dev.kbx.facts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.program.Program;
import dev.kbx.verdict.SourceFeatures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class FeaturesTest {
  private static final String HEAD =
      """
      import torch
      import triton
      import triton.language as tl

      """;

  private static SourceFeatures of(String code) {
    return Features.of(Program.of(code), 1);
  }

  private static List<String> techniques(String code) {
    return of(HEAD + code).techniques();
  }

  @Test
  void structureComesFromTheSyntaxTree() throws IOException {
    String kernel = Files.readString(Path.of("java/tests/src/test/resources/facts/kernel.py"));
    String renamed = kernel.replace("row_sum", "sums").replace("1024", "512");
    assertThat(of(kernel).structure()).hasSize(32).isEqualTo(of(renamed).structure());
    assertThat(of(kernel.replace("tl.sum", "tl.max")).structure())
        .isNotEqualTo(of(kernel).structure());
  }

  @Test
  void sizeCountsTheWholeFile() {
    SourceFeatures features = of("# c\ndef f(a):\n    if a and a > 1:\n        return 2\n\n");
    assertThat(features.complexity()).isEqualTo(3);
    assertThat(features.lines()).isEqualTo(3);
    assertThat(features.techniques()).isEmpty();
  }

  @Test
  void plainKernelHasNoTechniques() {
    assertThat(
            techniques(
                """
                @triton.jit
                def k(x, y, n, BLOCK: tl.constexpr):
                    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)

                def exp(x):
                    y = torch.empty_like(x)
                    k[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024, num_stages=3)
                    return y
                """))
        .isEmpty();
  }

  @Test
  void persistentPipelinedProductHasItsTechniques() {
    assertThat(
            techniques(
                """
                @triton.autotune([triton.Config({"B": 64}, num_stages=3)], ["n"])
                @triton.jit
                def k(a, b, c, n, tiles, B: tl.constexpr):
                    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
                        sum = tl.zeros((B, B), tl.float32)
                        for i in range(0, n, B):
                            sum = tl.dot(tl.load(a + i), tl.load(b + i), sum)
                        tl.store(c + tile, sum)
                """))
        .containsExactly("async_copies", "autotuning", "persistent_kernel", "tensor_cores");
  }

  @Test
  void splitKIsFoundByAtomicAddOrParameter() {
    String adding =
        """
        @triton.jit
        def k(a, b, c, B: tl.constexpr):
            tl.atomic_add(c, tl.dot(tl.load(a), tl.load(b)))
        """;
    assertThat(techniques(adding)).containsExactly("split_k", "tensor_cores");
    assertThat(techniques(adding.replace("atomic_add", "store").replace("B: tl", "SPLIT_K: tl")))
        .containsExactly("split_k", "tensor_cores");
    assertThat(techniques(adding.replace("atomic_add", "store"))).containsExactly("tensor_cores");
  }

  @Test
  void descriptorsCountAsWideAndAsynchronousLoads() {
    assertThat(
            techniques(
                """
                @triton.jit
                def k(x, n):
                    d = tl.make_tensor_descriptor(x, [n], [1], [64])
                    d.store([0], d.load([0]))
                """))
        .containsExactly("async_copies", "vectorised_access");
  }

  @Test
  void fusionIsFoundByFewerLaunchesThanOperations() {
    String code =
        HEAD
            + """
            @triton.jit
            def k(x):
                tl.store(x, tl.load(x))

            def entry(x):
                k[(1,)](x)
                return x
            """;
    assertThat(Features.of(Program.of(code), 2).techniques()).containsExactly("fusion");
    assertThat(Features.of(Program.of(code), 1).techniques()).isEmpty();
    assertThat(Features.of(Program.of("x = 1"), 2).techniques()).as("no launch").isEmpty();
  }

  @Test
  void techniquesAreReadInCudaStrings() {
    assertThat(
            of("""
            SOURCE = r'''
            __global__ void k(const float4* x) {
              __shared__ float tile[256];
              asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(0), "l"(x));
            }
            '''
            """)
                .techniques())
        .containsExactly("async_copies", "shared_memory", "vectorised_access");
    assertThat(of("'''float4 and __shared__ in prose'''").techniques()).isEmpty();
  }
}
