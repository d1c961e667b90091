package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A verdict is remembered by the program that gave it, and by a changed judge no more. */
class ChangedJudgeTest {
  private static final Path RULE = Path.of("java/judge/src/main/java/dev/kbx/check/Sleeping.java");
  private static final String SAYS = "waits deliberately";

  @TempDir private Path folder;

  /** The modules of the program, a folder of classes and resources each. */
  private final List<Path> modules = new ArrayList<>();

  @BeforeEach
  void copyOfTheProgram() throws Exception {
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path from = Path.of(entry);
      if (!from.getFileName().toString().matches("kbx(-.*)?\\.jar")) continue;
      try (FileSystem jar = FileSystems.newFileSystem(from)) {
        copy(jar.getPath("/"));
      }
    }
    assertThat(modules).hasSizeGreaterThan(4);
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

  private void copy(Path from) throws IOException {
    Path module = folder.resolve("module" + modules.size());
    modules.add(module);
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = module.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) Files.createDirectories(target);
        else Files.copy(file, target);
      }
    }
  }

  private Path moduleOf(String resource) {
    return modules.stream()
        .filter(module -> Files.exists(module.resolve(resource)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no module has " + resource));
  }

  private Kbx.Result judge() throws Exception {
    List<Object> arguments =
        List.of("eval", folder.resolve("relu.py"), "--stages", "static", "--out", folder, "--json");
    return Kbx.runProgram(modules, arguments.toArray());
  }

  private void changeTheRule() throws IOException {
    Path changed = folder.resolve("Sleeping.java");
    Files.writeString(changed, Files.readString(RULE).replace(SAYS, "sleeps a while"));
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-cp"));
    arguments.add(System.getProperty("java.class.path"));
    arguments.addAll(List.of("-d", moduleOf("dev/kbx/check/Sleeping.class").toString()));
    arguments.add(changed.toString());
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(new String[0]));
    assertThat(failed).isZero();
  }

  @Test
  void onlyAChangedJudgeInvalidatesRememberedVerdicts() throws Exception {
    assertThat(judge().out()).contains(SAYS);
    for (String resource : List.of("report/report.css", "llm/prices.toml")) {
      Path file = moduleOf(resource).resolve(resource);
      Files.writeString(file, Files.readString(file) + "\n");
    }
    Files.delete(moduleOf("dev/kbx/cli/Main.class").resolve("dev/kbx/cli/ModelsCommand.class"));
    assertThat(judge().err()).contains("from memory");
    changeTheRule();
    Kbx.Result changed = judge();
    assertThat(changed.err()).doesNotContain("from memory");
    assertThat(changed.out()).contains("sleeps a while").doesNotContain(SAYS);
  }
}
