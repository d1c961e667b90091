package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A full disk ends every command with exit code 2 and one line: nobody corrects it by other
 * options. Needs root, who may mount a small file system.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FullDiskTest {
  private static final int KIB = 1 << 10;

  private Path folder = Path.of("");
  private Path disk = Path.of("");
  private Path judged = Path.of("");
  private Path source = Path.of("");
  private String run = "";
  private int disks;

  @BeforeAll
  void judge(@TempDir Path given) throws Exception {
    folder = given;
    mount(64);
    judged = folder.resolve("judged");
    source = Kbx.home().resolve("corpus/honest/plain/gelu.py");
    Kbx.Result result = Kbx.here("eval", source, "--stages", "static", "--out", judged, "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    run = result.json().path("run").path("id").asString();
  }

  @AfterAll
  void unmount() throws Exception {
    for (int i = 1; i <= disks; i++) system("umount", folder.resolve("disk" + i).toString());
  }

  private static int system(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }

  /** A disk of its own, so small. */
  private void mount(int kib) throws Exception {
    disk = Files.createDirectory(folder.resolve("disk" + (disks + 1)));
    String size = "size=%dk".formatted(kib);
    int status = system("mount", "-t", "tmpfs", "-o", size, "none", disk.toString());
    assumeTrue(status == 0, "a file system cannot be mounted here: it takes root");
    disks++;
  }

  private void fill() throws IOException {
    try (OutputStream out = Files.newOutputStream(disk.resolve("filling"))) {
      while (true) out.write(new byte[KIB]);
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
  }

  private static void isIncomplete(Kbx.Result result) {
    assertThat(result.exit()).as(result.err()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err().lines().filter(line -> line.contains("No space left")))
        .as(result.err())
        .hasSize(1)
        .allMatch(line -> line.startsWith("kbx: "));
    assertThat(result.err()).doesNotContain("fault of kbx", "Exception", "\tat ");
  }

  /**
   * {@code OUT} is a new folder of the full disk, {@code PAGE} a file, {@code DIR} an empty one.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval SOURCE --stages static --out OUT",
        "generate --method external --program AGENT --tasks Activation/tanh --device cpu --out OUT",
        "run --method external --program AGENT --tasks Activation/tanh --device cpu --out OUT",
        "bench cheats SOURCE --static-only --out OUT",
        "compare RUN RUN --output PAGE --out JUDGED",
        "report RUN --format latex --output OUT --out JUDGED",
        "report RUN --format html --output OUT --out JUDGED",
        "report RUN --format csv --output OUT --out JUDGED",
        "report RUN --format json --output OUT --out JUDGED",
        "export training OUT --run RUN --out JUDGED",
        "runs copy JUDGED OUT",
        "tasks new mine --from REFERENCE --out OUT",
      })
  void commandsNameAFullDisk(String words) throws Exception {
    mount(64);
    fill();
    List<Object> arguments = new ArrayList<>();
    for (String word : words.split(" ", -1)) {
      arguments.add(
          switch (word) {
            case "SOURCE" -> source;
            case "OUT" -> disk.resolve("out");
            case "PAGE" -> disk.resolve("page.html");
            case "JUDGED" -> judged;
            case "RUN" -> run;
            case "AGENT" -> agent();
            case "REFERENCE" -> reference();
            default -> word;
          });
    }
    isIncomplete(Kbx.here(arguments.toArray()));
  }

  /** What it printed is lost, and it is asked again: it has not failed. */
  @Test
  void programModelOnAFullDiskIsNamed() throws Exception {
    mount(20 << 10);
    Path once = Files.createFile(folder.resolve("once"));
    Path program =
        Files.writeString(
            folder.resolve("model.sh"),
            """
            rm "$1" && dd if=/dev/zero of="$2/filling"
            echo a kernel
            exit 0
            """);
    List<Object> arguments = new ArrayList<>(List.of("generate", "--method", "single"));
    arguments.addAll(List.of("--model", "command:sh %s %s %s".formatted(program, once, disk)));
    arguments.addAll(List.of("--tasks", "Activation/tanh", "--device", "cpu"));
    arguments.addAll(List.of("--out", folder.resolve("asked"), "--json"));
    Map<String, String> environment = Map.of("TMPDIR", disk.toString());
    isIncomplete(Kbx.run(Kbx.home(), environment, arguments.toArray()));
    Files.delete(disk.resolve("filling"));
    arguments.add("--resume");
    Kbx.Result result = Kbx.run(Kbx.home(), environment, arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    LedgerEvents ledger = LedgerEvents.in(folder.resolve("asked"));
    assertThat(ledger.count("no_reply")).isZero();
    assertThat(ledger.count("reply")).isEqualTo(1);
  }

  private String agent() throws IOException {
    Path file = folder.resolve("agent.py");
    Files.writeString(
        file,
        """
        import json
        input()
        print(json.dumps({"done": {"code": "x = 1" + " " * 100_000}}), flush=True)
        """);
    return "python3 " + file;
  }

  private Path reference() throws IOException {
    return Files.writeString(
        folder.resolve("reference.py"),
        """
        import torch

        def double(x):
            return x + x

        def inputs():
            return (torch.rand(4),)
        """);
  }

  /** The store fits, but not the ledger, or the results: it ends as it began. */
  @Test
  @Tag("soak-only")
  void diskThatFillsDuringARunIsNamed() throws Exception {
    List<Integer> exits = new ArrayList<>();
    for (int kib = 150; kib <= 950; kib += 100) {
      mount(kib);
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "external",
              "--program",
              agent(),
              "--tasks",
              "Activation/tanh",
              "--device",
              "cpu",
              "--out",
              disk.resolve("out"));
      exits.add(result.exit());
      assertThat(result.exit()).as(kib + ": " + result.err()).isIn(0, ExitCode.INCOMPLETE);
      assertThat(result.err()).as("" + kib).doesNotContain("fault of kbx", "\tat ");
    }
    assertThat(exits).contains(ExitCode.INCOMPLETE);
  }
}
