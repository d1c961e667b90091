package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A kernel is compiled by way of files, which the candidate could exchange if it saw them. */
class CompilerFilesTest {
  private static final String LOOKS =
      """
      import glob
      import threading
      import time

      import torch
      import triton
      import triton.language as tl

      SEEN = set()


      @triton.jit
      def kernel(x, y, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(y + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)


      def look():
          while True:
              SEEN.update(f for f in glob.glob("/tmp/tmp*") + glob.glob("/dev/shm/tmp*"))
              time.sleep(0.0005)


      threading.Thread(target=look, daemon=True).start()


      def relu(input, inplace=False):
          out = input if inplace else torch.empty_like(input)
          if input.numel():
              kernel[(triton.cdiv(input.numel(), 256),)](input, out, input.numel(), BLOCK=256)
          if SEEN:
              raise RuntimeError(f"seen {sorted(SEEN)}")
          return out
      """;

  @TempDir private Path folder;

  @Test
  void noCandidateSeesTheFilesOfItsCompiler() throws Exception {
    Path file = Files.writeString(folder.resolve("relu.py"), LOOKS);
    Kbx.Result result =
        Kbx.here(
            "eval",
            file,
            "--device",
            "cpu",
            "--stages",
            "call",
            "--json",
            "--seed",
            Kbx.SEED,
            "--out",
            folder.resolve("out"));
    JsonNode verdict = result.json().get("verdicts").get(0);
    assertThat(verdict.get("status").asString()).as(verdict.toString()).isEqualTo("correct");
  }
}
