package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A verdict is remembered by the program that gave it, and by no other build of it. */
class ChangedJudgeTest {
  private static final Path RULE = Path.of("src/main/java/dev/kbx/check/Sleeping.java");
  private static final String SAYS = "waits deliberately";

  @TempDir private Path folder;
  private Path classes;

  @BeforeEach
  void copyOfTheProgram() throws Exception {
    classes = folder.resolve("classes");
    copy(Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI()), classes);
    Files.writeString(
        folder.resolve("relu.py"),
        """
        import time

        import torch
        import triton
        import triton.language as tl


        @triton.jit
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n)
            tl.store(out_ptr + offsets, tl.where(x > 0, x, 0.0), mask=offsets < n)


        def relu(input, inplace=False):
            time.sleep(0.1)
            out = torch.empty_like(input)
            kernel[(triton.cdiv(input.numel(), 1024),)](input, out, input.numel(), BLOCK=1024)
            return out
        """);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) Files.createDirectories(target);
        else Files.copy(file, target);
      }
    }
  }

  private Kbx.Result judge() throws Exception {
    List<Object> arguments =
        List.of("eval", folder.resolve("relu.py"), "--stages", "static", "--out", folder, "--json");
    return Kbx.runProgram(classes, arguments.toArray());
  }

  private void changeTheRule() throws IOException {
    Path changed = folder.resolve("Sleeping.java");
    Files.writeString(changed, Files.readString(RULE).replace(SAYS, "sleeps a while"));
    List<String> arguments =
        new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-cp"));
    arguments.add(classes + ":" + System.getProperty("java.class.path"));
    arguments.add(changed.toString());
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(new String[0]));
    assertThat(failed).isZero();
  }

  @Test
  void aChangedRuleJudgesAnew() throws Exception {
    assertThat(judge().out()).contains(SAYS);
    Kbx.Result again = judge();
    assertThat(again.err()).contains("from memory");
    changeTheRule();
    Kbx.Result changed = judge();
    assertThat(changed.err()).doesNotContain("from memory");
    assertThat(changed.out()).contains("sleeps a while").doesNotContain(SAYS);
  }
}
