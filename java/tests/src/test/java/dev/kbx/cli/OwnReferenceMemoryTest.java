package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * {@code kbx eval --reference} where a result is not all that counts: state, shared arguments, kept
 * outputs; and where several results are right.
 */
class OwnReferenceMemoryTest {
  private static final String TRITON =
      """
      import torch
      import triton
      import triton.language as tl

      """;

  @TempDir private Path folder;

  /** The verdicts on candidates, which are {@code kernel} with one line replaced in turn. */
  private List<JsonNode> judged(String reference, String kernel, String... lines) throws Exception {
    Files.writeString(folder.resolve("my_ref.py"), reference);
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    for (String line : lines) {
      arguments.add(written(arguments.size() + ".py", TRITON + kernel.replace("LINE", line)));
    }
    arguments.addAll(List.of("--reference", folder.resolve("my_ref.py"), "--device", "cpu"));
    arguments.addAll(List.of("--jobs", 1, "--out", folder.resolve("kbx-out"), "--json"));
    Kbx.Result result = Kbx.here(arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    return List.copyOf(result.json().get("verdicts").values());
  }

  private Path written(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private static List<String> statuses(List<JsonNode> verdicts) {
    return verdicts.stream().map(verdict -> verdict.get("status").asString()).toList();
  }

  private static String message(JsonNode verdict) {
    return verdict.get("message").asString();
  }

  @Test
  void runningStatisticsAreCompared() throws Exception {
    String reference =
        """
        import torch

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(16))

            def forward(self, x):
                self.mean.lerp_(x.mean(0), 0.25)
                return x - self.mean

        def get_inputs():
            return [torch.randn(7, 16) + 1]
        """;
    String kernel =
        """
        @triton.jit
        def kernel(x, mean, y, n, s0, s1, B: tl.constexpr):
            c = tl.program_id(0)
            r = tl.arange(0, B)
            v = tl.load(x + r * s0 + c * s1, mask=r < n, other=0.0)
            m = tl.load(mean + c) * 0.75 + tl.sum(v, 0) / n * 0.25
            tl.store(y + r * 16 + c, v - m, mask=r < n)
            LINE

        class ModelNew(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("NAME", torch.zeros(16))

            def forward(self, x):
                y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
                kernel[(16,)](x, self.NAME, y, x.shape[0], x.stride(0), x.stride(1), B=8)
                return y
        """;
    String update = "tl.store(mean + c, m)";
    List<JsonNode> verdicts = judged(reference, kernel.replace("NAME", "mean"), update, "pass");
    assertThat(statuses(verdicts)).containsExactly("correct", "wrong_values");
    assertThat(message(verdicts.getLast())).contains("first self.mean[0]: expected");

    List<JsonNode> renamed = judged(reference, kernel.replace("NAME", "average"), update);
    assertThat(statuses(renamed)).containsExactly("correct");

    String attribute = "self.average = torch.zeros(16, device=\"cuda\")";
    String unregistered =
        kernel.replace("self.register_buffer(\"NAME\", torch.zeros(16))", attribute);
    List<JsonNode> without = judged(reference, unregistered.replace("NAME", "average"), update);
    assertThat(statuses(without)).containsExactly("wrong_structure");
    assertThat(message(without.getFirst()))
        .contains("the module has no buffer self.mean of float32[16], which forward() of the");
  }

  @Test
  void anUpdateOfASlotIsSeenInItsCache() throws Exception {
    String reference =
        """
        import torch

        def inputs():
            cache = torch.randn(3, 32)
            return cache[1], cache, torch.randn(32)

        def put(slot, cache, x):
            slot.copy_(x)
            return cache.sum(0)
        """;
    String kernel =
        """
        @triton.jit
        def write(slot, x, s, t):
            i = tl.arange(0, 32)
            tl.store(slot + i * s, tl.load(x + i * t))

        @triton.jit
        def add(cache, y, s, t):
            i = tl.arange(0, 32)
            a = tl.load(cache + i * t) + tl.load(cache + s + i * t)
            tl.store(y + i, a + tl.load(cache + 2 * s + i * t))

        def put(slot, cache, x):
            y = torch.empty(32, device=x.device, dtype=x.dtype)
            LINE
            return y
        """;
    String write = "write[(1,)](slot, x, slot.stride(0), x.stride(0))";
    String add = "add[(1,)](cache, y, cache.stride(0), cache.stride(1))";
    List<JsonNode> verdicts = judged(reference, kernel, write + "; " + add, add + "; " + write);
    assertThat(statuses(verdicts)).containsExactly("correct", "wrong_values");
  }

  @Test
  void indicesOfEqualValuesAreRightWhereNoOrderIsPromised() throws Exception {
    String reference =
        """
        import torch

        def inputs():
            return torch.randint(0, 4, (9, 16)).float()

        def largest(x):
            return OPERATION
        """;
    String kernel =
        """
        @triton.jit
        def kernel(x, y, s0, s1):
            r = tl.program_id(0)
            i = tl.arange(0, 16)
            v = tl.load(x + r * s0 + i * s1)
            at = v == tl.max(v, 0)
            tl.store(y + r, LINE)

        def largest(x):
            y = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
            kernel[(x.shape[0],)](x, y, *x.stride())
            return SHAPED
        """;
    String first = "tl.min(tl.where(at, i, 99), 0)";
    String last = "tl.max(tl.where(at, i, -1), 0)";
    String least = "tl.argmin(v, 0)";
    List<JsonNode> any =
        judged(
            reference.replace("OPERATION", "torch.topk(x, 1)[1]"),
            kernel.replace("SHAPED", "y[:, None]"),
            first,
            last,
            least);
    assertThat(statuses(any)).containsExactly("correct", "correct", "wrong_values");

    List<JsonNode> promised =
        judged(
            reference.replace("OPERATION", "torch.argmax(x, -1)"),
            kernel.replace("SHAPED", "y"),
            first,
            last);
    assertThat(statuses(promised)).containsExactly("correct", "wrong_values");
    assertThat(message(promised.getLast()))
        .endsWith("the values are equal, of which PyTorch promises the first");
  }

  @Test
  void aResultThatOverwritesTheLastOneIsAFlag() throws Exception {
    String reference =
        """
        import torch

        # inputs: f32[64]
        def twice(x):
            return x * 2
        """;
    String kernel =
        """
        kept = []

        @triton.jit
        def kernel(x, y, s):
            i = tl.arange(0, 64)
            tl.store(y + i, tl.load(x + i * s) * 2)

        def twice(x):
            if not kept:
                kept.append(torch.empty(64, device=x.device))
            kernel[(1,)](x, kept[0], x.stride(0))
            return LINE
        """;
    List<JsonNode> verdicts = judged(reference, kernel, "kept[0]", "kept[0].clone()");
    assertThat(statuses(verdicts)).containsExactly("correct", "correct");
    assertThat(verdicts.getFirst().get("flags").toString()).contains("reused_output");
    assertThat(verdicts.getLast().get("flags").toString()).doesNotContain("reused_output");
  }

  /** A number that Python makes of what it has read is nobody's kernel's. */
  @Test
  void numbersAreProvenToBeWhatWasRead() throws Exception {
    String reference =
        """
        import torch

        def total(x):
            return x + 1, float(x.sum())

        def inputs():
            yield torch.randn(1000)
        """;
    String kernel =
        """
        @triton.jit
        def sum_kernel(x, y, total, n, B: tl.constexpr):
            i = tl.arange(0, B)
            v = tl.load(x + i, mask=i < n, other=0.0)
            tl.store(y + i, v + 1, mask=i < n)
            tl.store(total, tl.sum(v))

        def total(x):
            y, total = torch.empty_like(x), torch.empty(1, device=x.device)
            sum_kernel[(1,)](x, y, total, x.numel(), B=1024)
            return y, LINE
        """;
    List<JsonNode> verdicts =
        judged(reference, kernel, "total.item()", "total.item() * 3 / 3.000001");
    assertThat(statuses(verdicts)).containsExactly("correct", "correct");
    assertThat(verdicts.getFirst().get("flags")).isEmpty();
    assertThat(verdicts.getLast().get("flags").get(0).asString()).isEqualTo("unproven_origin");
  }
}
