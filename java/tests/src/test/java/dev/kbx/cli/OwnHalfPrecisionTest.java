package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/**
 * Kernels of operations that engineers bring, in bfloat16: right ones, and each with one classic
 * mistake.
 */
class OwnHalfPrecisionTest {
  @TempDir private Path folder;

  /** A reference, a kernel, and what in the kernel is replaced to make it right and wrong. */
  enum Operation {
    /** Turned the other way. */
    ROPE(
        """
        import torch

        # inputs: bf16[2, 5, 30, 32], bf16[30, 16], bf16[30, 16]
        def rope(x, cos, sin):
            a, b = x.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
        """,
        """
        import torch, triton
        import triton.language as tl

        @triton.jit
        def k(x, cos, sin, y, s0, s1, s2, s3, c0, c1, d0, d1, H, L, D: tl.constexpr):
            p = tl.program_id(0)
            l = p % L
            base = x + p // L // H * s0 + p // L % H * s1 + l * s2
            i = tl.arange(0, D)
            a = tl.load(base + i * s3).to(tl.float32)
            b = tl.load(base + (i + D) * s3).to(tl.float32)
            c = tl.load(cos + l * c0 + i * c1).to(tl.float32)
            s = tl.load(sin + l * d0 + i * d1).to(tl.float32)
            tl.store(y + p * 2 * D + i, (a * c - b * s).to(y.dtype.element_ty))
            tl.store(y + p * 2 * D + D + i, (b * c SIGN a * s).to(y.dtype.element_ty))

        def rope(x, cos, sin):
            y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
            n, h, l, d = x.shape
            k[(n * h * l,)](x, cos, sin, y, *x.stride(), *cos.stride(), *sin.stride(), h, l, d // 2)
            return y
        """,
        "SIGN",
        "+",
        "-"),
    /** In one pass over keys, with probabilities in bfloat16; the mistake sees the next key. */
    ATTENTION(
        """
        import torch

        # inputs: bf16[3, 48, 32], bf16[3, 48, 32], bf16[3, 48, 32]
        def attention(q, k, v):
            scores = q.float() @ k.float().mT * q.shape[-1] ** -0.5
            mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool, device=q.device).tril()
            return (torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v.float()).to(q.dtype)
        """,
        """
        import torch, triton
        import triton.language as tl

        @triton.jit
        def kern(q, k, v, y, q0, q1, q2, k0, k1, k2, v0, v1, v2, N, scale, D: tl.constexpr, B: tl.constexpr):
            h = tl.program_id(1)
            r = tl.program_id(0) * B + tl.arange(0, B)
            d = tl.arange(0, D)
            qs = tl.load(q + h * q0 + r[:, None] * q1 + d[None, :] * q2, mask=r[:, None] < N, other=0.0)
            m = tl.full((B,), float("-inf"), tl.float32)
            s = tl.zeros((B,), tl.float32)
            acc = tl.zeros((B, D), tl.float32)
            for at in range(0, N, B):
                c = at + tl.arange(0, B)
                ks = tl.load(k + h * k0 + c[None, :] * k1 + d[:, None] * k2, mask=c[None, :] < N, other=0.0)
                vs = tl.load(v + h * v0 + c[:, None] * v1 + d[None, :] * v2, mask=c[:, None] < N, other=0.0)
                x = tl.dot(qs, ks) * scale
                x = tl.where((c[None, :] <= r[:, None] LATE) & (c[None, :] < N), x, -1e30)
                new = tl.maximum(m, tl.max(x, 1))
                p = tl.exp(x - new[:, None])
                a = tl.exp(m - new)
                s = s * a + tl.sum(p, 1)
                acc = acc * a[:, None] + tl.dot(p.to(vs.dtype), vs)
                m = new
            tl.store(y + h * N * D + r[:, None] * D + d[None, :], (acc / s[:, None]).to(y.dtype.element_ty), mask=r[:, None] < N)

        def attention(q, k, v):
            y = torch.empty(q.shape, device=q.device, dtype=q.dtype)
            n, l, d = q.shape
            kern[(triton.cdiv(l, 16), n)](q, k, v, y, *q.stride(), *k.stride(), *v.stride(), l, d ** -0.5, d, 16)
            return y
        """,
        "LATE",
        "",
        "+ 1"),
    /** The mistake leaves out the last classes. */
    CROSS_ENTROPY(
        """
        import torch

        # inputs: bf16[50, 70], i64[50] < 70
        def loss(x, target):
            return torch.nn.functional.cross_entropy(x, target, reduction="none")
        """,
        """
        import torch, triton
        import triton.language as tl

        @triton.jit
        def k(x, t, y, s0, s1, st, N, B: tl.constexpr):
            r = tl.program_id(0)
            c = tl.arange(0, B)
            v = tl.load(x + r * s0 + c * s1, mask=c < N, other=float("-inf")).to(tl.float32)
            m = tl.max(v, 0)
            e = tl.where(c < N LESS, tl.exp(v - m), 0.0)
            g = tl.load(x + r * s0 + tl.load(t + r * st) * s1).to(tl.float32)
            tl.store(y + r, (m + tl.log(tl.sum(e, 0)) - g).to(y.dtype.element_ty))

        def loss(x, target):
            y = torch.empty((x.shape[0],), device=x.device, dtype=x.dtype)
            k[(x.shape[0],)](x, target, y, *x.stride(), target.stride(0), x.shape[1], triton.next_power_of_2(x.shape[1]))
            return y
        """,
        "LESS",
        "",
        " - 6"),
    /** The mistake decays by the step before. */
    STATE_SCAN(
        """
        import torch

        # inputs: bf16[20, 50], bf16[20, 50]
        def scan(a, x):
            a = torch.sigmoid(a.float())
            h, out = torch.zeros_like(a[:, 0]), []
            for t in range(a.shape[1]):
                h = a[:, t] * h + x[:, t].float()
                out.append(h)
            return torch.stack(out, 1).to(x.dtype)
        """,
        """
        import torch, triton
        import triton.language as tl

        @triton.jit
        def combine(a1, b1, a2, b2):
            return a1 * a2, b1 * a2 + b2

        @triton.jit
        def k(a, x, y, a0, a1, x0, x1, N, B: tl.constexpr):
            r = tl.program_id(0)
            c = tl.arange(0, B)
            d = tl.sigmoid(tl.load(a + r * a0 + (c LATE) * a1, mask=(c < N) & (c LATE >= 0), other=0.0).to(tl.float32))
            v = tl.load(x + r * x0 + c * x1, mask=c < N, other=0.0).to(tl.float32)
            _, h = tl.associative_scan((d, v), 0, combine)
            tl.store(y + r * N + c, h.to(y.dtype.element_ty), mask=c < N)

        def scan(a, x):
            y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
            k[(x.shape[0],)](a, x, y, *a.stride(), *x.stride(), x.shape[1], triton.next_power_of_2(x.shape[1]))
            return y
        """,
        "LATE",
        "",
        " - 1");

    private final String reference;
    private final String kernel;
    private final String place;
    private final String right;
    private final String wrong;

    Operation(String reference, String kernel, String place, String right, String wrong) {
      this.reference = reference;
      this.kernel = kernel;
      this.place = place;
      this.right = right;
      this.wrong = wrong;
    }
  }

  @ParameterizedTest
  @EnumSource
  void honestKernelPassesAndAMistakeFails(Operation operation) throws IOException {
    Path reference = Files.writeString(folder.resolve("my_ref.py"), operation.reference);
    String kernel = operation.kernel;
    Path right = folder.resolve("right.py");
    Path wrong = folder.resolve("wrong.py");
    Files.writeString(right, kernel.replace(operation.place, operation.right));
    Files.writeString(wrong, kernel.replace(operation.place, operation.wrong));
    Kbx.Result result =
        Kbx.here(
            "eval",
            right,
            wrong,
            "--reference",
            reference,
            "--device",
            "cpu",
            "--jobs",
            1,
            "--json",
            "--out",
            folder.resolve("kbx-out"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("verdicts").values())
        .extracting((JsonNode verdict) -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values");
  }
}
