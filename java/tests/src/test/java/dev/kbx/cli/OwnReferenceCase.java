package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A folder with a reference, a kernel that computes it and one that does not. */
abstract class OwnReferenceCase {
  static final String REFERENCE =
      """
      import torch

      # inputs: f32[16, 40], 2.0
      def scale(x, by):
          return x * by
      """;

  static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, y, n, by, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(y + i, tl.load(x + i, mask=i < n) * by, mask=i < n)

      def scale(x, by):
          y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
          kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BY, BLOCK=256)
          return y
      """;

  @TempDir Path folder;

  @BeforeEach
  void writeBoth() throws IOException {
    write("my_ref.py", REFERENCE);
    write("right.py", KERNEL.replace("BY", "by"));
    write("wrong.py", KERNEL.replace("BY", "by * 1.001"));
  }

  void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  Kbx.Result eval(Object... arguments) throws Exception {
    List<Object> all = new ArrayList<>(List.of("eval"));
    for (Object argument : arguments) {
      boolean file = argument.toString().matches("\\.|[a-z_]+\\.py(:.*)?");
      all.add(file ? folder + "/" + argument : argument);
    }
    all.addAll(List.of("--device", "cpu", "--jobs", 1, "--out", folder.resolve("kbx-out")));
    return Kbx.here(all.toArray());
  }
}
