package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.PythonChecks;
import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code kbx.capture} of the Python client writes is what {@code kbx} takes. */
class CaptureTest {
  private static final String PROGRAM =
      """
      import sys
      import torch
      from torch import nn
      from torch.nn import functional as F
      import kbx

      class RMSNorm(nn.Module):
          def __init__(self, width):
              super().__init__()
              self.weight = nn.Parameter(torch.ones(width))

          def forward(self, x):
              return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight

      class Block(nn.Module):
          def __init__(self, width=32, heads=2):
              super().__init__()
              self.heads, self.norm, self.qkv = heads, RMSNorm(width), nn.Linear(width, 3 * width)
              self.out = nn.Linear(width, width)

          def forward(self, x):
              batch, length, width = x.shape
              q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
              x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
              return F.gelu(x)

      model = Block()
      with kbx.capture(sys.argv[1]):
          for length in (16, 16, 5):
              model(torch.randn(2, length, 32))
      """;

  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, w, y, n, BLOCK: tl.constexpr):
          row, i = tl.program_id(0), tl.arange(0, BLOCK)
          v = tl.load(x + row * n + i, mask=i < n, other=0.0)
          scale = tl.rsqrt(tl.sum(v * v, 0) / n + 1e-5)
          tl.store(y + row * n + i, v * scale * tl.load(w + i, mask=i < n), mask=i < n)

      def rmsnorm(x, self_weight):
          x, weight, n = x.contiguous(), self_weight.contiguous(), x.shape[-1]
          y = torch.empty_like(x)
          kernel[(x.numel() // n,)](x, weight, y, n, BLOCK=triton.next_power_of_2(n))
          return y
      """;

  @Test
  void recordedCallsAreReferencesAndTaskFiles(@TempDir Path folder) throws Exception {
    Path tools =
        DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    Path client = TestPython.home().resolve("clients/python/src");
    Path recorded = folder.resolve("recorded");
    Files.writeString(folder.resolve("program.py"), PROGRAM);
    Files.writeString(folder.resolve("kernel.py"), KERNEL);
    new PythonChecks(folder, Map.of(), client, tools)
        .assertPasses(
            TestPython.interpreter().executable().toString(), "program.py", recorded.toString());

    Kbx.Result judged =
        Kbx.here(
            "eval",
            folder.resolve("kernel.py"),
            "--reference",
            recorded.resolve("rmsnorm.py"),
            "--device",
            "cpu",
            "--out",
            folder.resolve("kbx-out"));
    assertThat(judged.out()).as(judged.err()).contains("1 of 1 correct");

    Path suite = folder.resolve("suite");
    for (String name : new String[] {"linear", "scaled_dot_product_attention"}) {
      Kbx.Result made =
          Kbx.here(
              "tasks",
              "new",
              name,
              "--from",
              recorded.resolve(name + ".py"),
              "--out",
              suite,
              "--device",
              "cpu");
      assertThat(made.exit()).as(made.err()).isZero();
      assertThat(Files.readString(suite.resolve("own/" + name + ".py"))).contains("\nWEIGHTS = [");
    }
    Kbx.Result sound =
        Kbx.here(
            "tasks",
            "verify",
            "--suite",
            suite,
            "--device",
            "cpu",
            "--out",
            folder.resolve("verified"));
    assertThat(sound.out()).as(sound.err()).contains("2 of 2 tasks sound");
  }
}
