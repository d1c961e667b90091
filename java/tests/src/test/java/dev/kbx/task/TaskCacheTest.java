package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.syntax.CodeSize;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Task files that are known are not parsed again, and nothing else depends on it. */
class TaskCacheTest {
  @TempDir private Path home;
  private Path relu = Path.of("relu.py");
  private Path kept = Path.of("mini");

  @BeforeEach
  void aSuite() throws IOException {
    relu = home.resolve("tasks/mini/Activation/relu.py");
    kept = home.resolve("state/mini");
    Files.createDirectories(relu.getParent());
    Files.writeString(
        relu,
        """
        \"""Rectifies.\"""

        DIFFICULTY = 2
        TAGS = ("elementwise", "easy")
        SIZES = [dict(n=1024), dict(n=4096)]


        def relu(input, inplace: bool = False):
            return torch.relu(input)
        """);
  }

  /** What the list of tasks shows needs no file then. */
  @Test
  void sizesAreKept() throws Exception {
    Sizes stated = new Sizes(List.of("n=1024", "n=4096"), null, null);
    assertThat(opened("1").sizes()).isEqualTo(stated);
    Task known = opened("1");
    Files.delete(relu);
    assertThat(Sizes.of(known)).isEqualTo(stated);
    assertThat(Sizes.of(known.cast("float16"))).isEqualTo(Sizes.NONE);
  }

  @Test
  void sizesOfAModuleAreKept() throws Exception {
    Files.writeString(
        relu,
        """
        \"""Scales.\"""
        PUBLISHED = dict(rows=64)


        class Model(torch.nn.Module):
            def __init__(self, factor):
                super().__init__()

            def forward(self, x):
                return x


        def init_inputs(rows):
            return [2.0]


        def inputs(make, rows):
            return [make.floats(rows, 8)]
        """);
    Task parsed = opened("1");
    assertThat(Objects.requireNonNull(parsed.sizes()).constructor())
        .isEqualTo(Map.of("factor", "2.0"));
    assertThat(opened("1")).isEqualTo(parsed);
  }

  private Task opened(String version) {
    TaskCache cache = TaskCache.in(home.resolve("state"), version);
    return Suites.open("mini", home.resolve("tasks"), _ -> true, cache, SyntaxCheck.PARSER)
        .tasks()
        .getFirst();
  }

  /** Makes what is kept say something that no file says. */
  private void tamper() throws IOException {
    String text = Files.readString(kept, StandardCharsets.ISO_8859_1);
    assertThat(text).contains("Rectifies.");
    Files.writeString(kept, text.replace("Rectifies.", "Rectified!"), StandardCharsets.ISO_8859_1);
  }

  @Test
  void unchangedFileGivesTheCachedTask() throws Exception {
    Task parsed = opened("1");
    assertThat(parsed.size()).isEqualTo(new CodeSize(2, 1));
    assertThat(opened("1")).isEqualTo(parsed);
    tamper();
    assertThat(opened("1").statement()).isEqualTo("Rectified!");
  }

  @Test
  void changedFileOrProgramIsParsedAgain() throws Exception {
    var _ = opened("1");
    tamper();
    assertThat(opened("2").statement()).isEqualTo("Rectifies.");
    tamper();
    Files.writeString(relu, Files.readString(relu).replace("DIFFICULTY = 2", "DIFFICULTY = 3"));
    assertThat(opened("2").statement()).isEqualTo("Rectifies.");
    assertThat(opened("2").difficulty()).isEqualTo(3);
  }

  @Test
  void aCacheThatCannotBeUsedIsIgnored() throws Exception {
    Task parsed = opened("1");
    byte[] whole = Files.readAllBytes(kept);
    for (int length : new int[] {0, 3, 9, whole.length / 2, whole.length - 1}) {
      Files.write(kept, java.util.Arrays.copyOf(whole, length));
      assertThat(opened("1")).as("%d bytes", length).isEqualTo(parsed);
    }
    Files.delete(kept);
    Files.createDirectories(kept.resolve("folder"));
    assertThat(opened("1")).isEqualTo(parsed);
  }
}
