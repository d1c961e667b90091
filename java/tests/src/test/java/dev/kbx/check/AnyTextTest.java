package dev.kbx.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.candidate.Candidate;
import dev.kbx.program.Program;
import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever a model writes: the static stage says something, soon, and keeps no memory.
 *
 * <p>A dozen times as many files, and text five times as long, with the property {@code kbx.soak},
 * which the Maven profile {@code soak} sets.
 */
@Tag("soak")
class AnyTextTest {
  private static final int FILES = Boolean.getBoolean("kbx.soak") ? 5_000 : 400;
  private static final int REPEATS = Boolean.getBoolean("kbx.soak") ? 10_000 : 2_000;
  private static final long SEED = 20261121;

  /**
   * CPU time: a limit on the clock would fail on a busy machine. The parser alone may take five
   * seconds.
   */
  private static final double LONGEST_SECONDS = Boolean.getBoolean("kbx.soak") ? 20 : 10;

  private static final StaticCheck CHECK = new StaticCheck(Rules.all());
  private static final Task RELU = Bundled.suite("kernelbenchx").find("relu").getFirst();
  private static final List<byte[]> SEEDS = new ArrayList<>();

  @BeforeAll
  static void readSeeds() throws IOException {
    for (String root : List.of("tasks", "examples", "corpus")) {
      try (Stream<Path> files = Files.walk(Path.of(root))) {
        files.filter(file -> file.toString().endsWith(".py")).sorted().forEach(AnyTextTest::seed);
      }
    }
    assertThat(SEEDS).hasSizeGreaterThan(200);
  }

  private static void seed(Path file) {
    try {
      SEEDS.add(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All that rules and others may ask, of a source that is read once: reading takes longest. */
  private static void look(String code) {
    long start = cpu();
    Program program = Program.of(PythonSource.parse(code));
    Candidate candidate = new Candidate(RELU, code, "", 0, null, null, null);
    assertThat(CHECK.check(candidate, program, RELU).findings()).isNotNull();
    assertThat(program.calls()).isNotNull();
    assertThat(program.accesses()).isNotNull();
    assertThat(program.kernels()).isNotNull();
    assertThat(program.launches()).isNotNull();
    soon(code, start);
  }

  private static void check(String code) {
    long start = cpu();
    assertThat(CHECK.check(code, null).findings()).isNotNull();
    soon(code, start);
  }

  private static void soon(String code, long start) {
    double seconds = (cpu() - start) / 1e9;
    assertThat(seconds).as(() -> head(code)).isLessThan(LONGEST_SECONDS);
  }

  private static String head(String code) {
    return code.length() + " characters: " + code.substring(0, Math.min(200, code.length()));
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  @Test
  void mutatedFilesAreReadWithoutFailingOrKeepingMemory() throws IOException {
    Random random = new Random(SEED);
    for (int i = 0; i < FILES / 10; i++) look(mutated(random));
    long heap = heapAfterCollection();
    long resident = resident();
    for (int i = FILES / 10; i < FILES; i++) check(mutated(random));
    assertThat(heapAfterCollection() - heap).as("heap").isLessThan(16L << 20);
    // The collector may still grow its heap; what the parser would leak by is more.
    MemoryUsage usage = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    assertThat(resident() - resident).as("resident").isLessThan(usage.getMax() / 4 + (64L << 20));
  }

  private static long heapAfterCollection() {
    System.gc();
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static long resident() throws IOException {
    String pages = Files.readString(Path.of("/proc/self/statm")).split(" ", 3)[1];
    return Long.parseLong(pages) * 4096;
  }

  /** A real file, damaged a few times, read as some encoding. */
  private static String mutated(Random random) {
    // A part of a file: the parser's cost is known, and ten thousand whole files take minutes.
    byte[] seed = SEEDS.get(random.nextInt(SEEDS.size()));
    int from = random.nextInt(3) == 0 ? random.nextInt(seed.length + 1) : 0;
    byte[] bytes = Arrays.copyOfRange(seed, from, Math.min(seed.length, from + 600));
    for (int i = random.nextInt(4); i >= 0; i--) bytes = damaged(bytes, random);
    Charset charset =
        switch (random.nextInt(8)) {
          case 0 -> StandardCharsets.UTF_16LE;
          case 1, 2 -> StandardCharsets.ISO_8859_1;
          default -> StandardCharsets.UTF_8;
        };
    return new String(bytes, charset);
  }

  private static byte[] damaged(byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length + 1);
    return switch (random.nextInt(8)) {
      case 0 -> flipped(bytes, random);
      case 1 -> Arrays.copyOf(bytes, at);
      case 2 -> with(bytes, at, new byte[1 + random.nextInt(4)]);
      case 3 -> with(bytes, at, "([{".repeat(random.nextInt(60)));
      case 4 -> with(bytes, at, List.of("\r", "\r\n", "\f", "\u2028").get(random.nextInt(4)));
      case 5 -> with(bytes, at, List.of("\ufeff", "日本", "\ud83d\ude00").get(random.nextInt(3)));
      case 6 -> with(bytes, at, List.of("\"\"\"", "'", "f'{", "\\").get(random.nextInt(4)));
      default -> with(bytes, at, Arrays.copyOfRange(bytes, at / 2, at));
    };
  }

  private static byte[] flipped(byte[] bytes, Random random) {
    byte[] changed = bytes.clone();
    for (int i = 0; i < 8 && changed.length > 0; i++) {
      changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return changed;
  }

  private static byte[] with(byte[] bytes, int at, String text) {
    return with(bytes, at, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] with(byte[] bytes, int at, byte[] added) {
    byte[] joined = new byte[bytes.length + added.length];
    System.arraycopy(bytes, 0, joined, 0, at);
    System.arraycopy(added, 0, joined, at, added.length);
    System.arraycopy(bytes, at, joined, at + added.length, bytes.length - at);
    return joined;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(",
        "[",
        "{",
        ")",
        "f(",
        "-",
        "not ",
        "x.",
        "lambda: ",
        "f'{",
        "a if b else ",
        "x, ",
        "@x\n",
        "x[0]",
        "x = ",
        "await ",
        "*",
        "'",
        "\"\"\"",
        "\\\n",
        "\n",
        "\r",
        " ",
        "\t",
        "#",
        "\0",
        "日",
        "1",
        "_",
        "x()",
        "exec('x')\n",
        "f(x)(",
        "import torch\n",
        "if x:\n",
        "x = x + x\n",
        "def f(x): return g(f)\n",
        "class A(A): x = A.x\n",
        "torch.cuda.Event = x; "
      })
  void repeatedTextIsReadInTime(String thing) {
    look(thing.repeat(REPEATS));
    look("import torch\nx = " + thing.repeat(Math.min(REPEATS, 5_000)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"if x:\n", "def f(x):\n", "class A:\n", "with x:\n", "try:\n"})
  void deeplyNestedBlocksAreRead(String header) {
    StringBuilder code = new StringBuilder();
    for (int depth = 0; depth < 1_200; depth++) code.append(" ".repeat(depth)).append(header);
    look(code + " ".repeat(1_200) + "pass\n");
  }

  @Test
  void longLinesAreRead() {
    look("x = '" + "a".repeat(1 << 20) + "'\n");
    look("x = [" + "f(1), ".repeat(20_000) + "]\n");
    look("日 = [" + "f(日), ".repeat(20_000) + "]\n");
    look("x = " + "9".repeat(1 << 20));
    look("x" + "x".repeat(1 << 20) + " = 1");
    look("import torch\n" + "torch.cuda.Event = 1; ".repeat(15_000));
  }
}
