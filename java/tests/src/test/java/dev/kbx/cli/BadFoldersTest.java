package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kbx.SimulatedRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Folders and files that a command cannot read or write get one clear line, and nothing is left
 * there.
 */
class BadFoldersTest extends RefusedInput {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval GOOD --python nowhere/python",
        "eval GOOD --python FOLDER",
        "eval GOOD --store nowhere",
        "bench cheats --output nowhere/page.md",
        "bench cheats --python nowhere/python",
        "bench referee --python nowhere/python",
        "bench throughput --python nowhere/python",
        "tasks verify gelu --python nowhere/python",
      })
  void wrongPathIsRefusedBeforeFoldersAreMade(String command) throws Exception {
    Path good = file("p.jsonl", GOOD);
    Path out = folder.resolve("out");
    String[] words = command.split(" ", -1);
    List<Object> arguments = new ArrayList<>();
    for (String word : words) {
      arguments.add(word.equals("GOOD") ? good : word.equals("FOLDER") ? folder : word);
    }
    if (!command.contains("throughput")) arguments.addAll(List.of("--out", out));
    Kbx.Result result = Kbx.here(arguments.toArray());
    refused(result, words[words.length - 2], words[words.length - 1].replace("FOLDER", "a folder"));
    assertThat(result.err().lines()).hasSize(1);
    assertThat(out).doesNotExist();
  }

  @Test
  void resumeLooksInTheGivenFolder() {
    Path out = folder.resolve("out");
    refusedInOneLine(
        Kbx.here("eval", "--resume", "--out", out),
        "--resume: no run in " + out.resolve("kbx.db") + " to resume");
    assertThat(out).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "taken, is a file",
    "taken/below, FOLDER/taken is a file",
    "dangling, is a link to nothing",
    "dangling/below, FOLDER/dangling is a link to nothing",
  })
  void outThatIsNotAFolder(String out, String why) throws Exception {
    var _ = file("taken", "x");
    Path link = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
    Path given = folder.resolve("given");
    SimulatedRun.on(SimulatedRun.H200, 1).store(given);
    Path named = folder.resolve(out);
    for (Object[] command :
        new Object[][] {
          {"eval", file("p.jsonl", GOOD), "--stages", "static"},
          {
            "tasks",
            "import",
            "kernelbench",
            Kbx.home().resolve("java/tests/src/test/resources/original-kernelbench")
          },
          {"runs", "merge", given}
        }) {
      Object[] arguments = Arrays.copyOf(command, command.length + 2);
      String option = command[1].equals("import") ? "--output" : "--out";
      arguments[command.length] = option;
      arguments[command.length + 1] = named;
      refusedInOneLine(
          Kbx.here(arguments),
          "%s %s: %s; name a folder"
              .formatted(option, named, why.replace("FOLDER", folder.toString())));
    }
    assertThat(Files.isSymbolicLink(link)).isTrue();
    assertThat(folder.resolve("gone")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "taken, a file",
    "dangling, a link to nothing",
    "gone, no such folder",
    "empty, no kbx.db",
  })
  void aFolderWithoutRuns(String out, String why) throws Exception {
    var _ = file("taken", "x");
    var _ = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
    var _ = Files.createDirectory(folder.resolve("empty"));
    Path named = folder.resolve(out);
    String line =
        "%s: no runs there (%s); name the folder of an earlier --out".formatted(named, why);
    refusedInOneLine(Kbx.here("runs", "list", "--out", named), line);
    refusedInOneLine(Kbx.here("runs", "copy", named, folder.resolve("new")), line);
    refusedInOneLine(Kbx.here("runs", "merge", named, "--out", folder.resolve("new")), line);
    refusedInOneLine(Kbx.here("export", "kernelbench", "x", "--out", named), line);
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void outCannotBeWritten() throws Exception {
    refused(
        Kbx.here("eval", file("p.jsonl", GOOD), "--stages", "static", "--out", "/proc/kbx"),
        "--out /proc/kbx");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval .",
        "tasks verify",
        "tasks import kernelbench .",
        "runs list",
        "runs merge .",
        "compare a b",
        "export kernelbench x",
        "bench cheats",
        "bench noise",
        "bench referee",
        "package",
      })
  void anEmptyOut(String command) throws Exception {
    Object[] arguments = (command + " --out=").split(" ");
    refusedInOneLine(Kbx.here(arguments), "--out: is empty; name a file or folder");
  }

  @Test
  void fileThatIsNotADatabase() throws Exception {
    Path out = Files.createDirectory(folder.resolve("out"));
    Path file = Files.writeString(out.resolve("kbx.db"), "not a database, but longer than none");
    String advice =
        "kbx: " + file + ": is damaged, or no database; name another folder, or move it";
    Kbx.Result alone = Kbx.here("runs", "list", "--out", out);
    assertThat(alone.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(alone.err()).isEqualTo(advice + " away\n");
    Files.writeString(out.resolve("results.jsonl"), "");
    Kbx.Result result = eval(file("p.jsonl", GOOD));
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo(advice + " away with results.jsonl, in which what was judged still stands\n");
  }

  @Test
  void aDatabaseOfAnotherProgram() throws Exception {
    Path out = Files.createDirectory(folder.resolve("out"));
    Path file = out.resolve("kbx.db");
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("CREATE TABLE notes (text)");
    }
    Kbx.Result result = eval(file("p.jsonl", GOOD));
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo("kbx: " + file + ": is another program's database; name another folder\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval GOOD --stages static --out OUT",
        "bench cheats --out OUT",
        "runs list --out OUT",
        "runs merge OUT --out NEW",
        "runs copy OUT NEW",
        "runs copy GIVEN OUT",
        "runs merge GIVEN --out OUT",
      })
  void aFolderInPlaceOfTheDatabase(String command) throws Exception {
    Path out = folder.resolve("out");
    Path database = Files.createDirectories(out.resolve("kbx.db"));
    Path given = folder.resolve("given");
    SimulatedRun.on(SimulatedRun.H200, 1).store(given);
    Map<String, Path> paths =
        Map.of(
            "GOOD",
            file("p.jsonl", GOOD),
            "OUT",
            out,
            "GIVEN",
            given,
            "NEW",
            folder.resolve("new"));
    Object[] arguments =
        Arrays.stream(command.split(" ", -1))
            .map(word -> paths.containsKey(word) ? paths.get(word) : word)
            .toArray();
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(result.err())
        .isEqualTo("kbx: " + database + ": is a folder; name another folder, or move it away\n");
    assertThat(out).isDirectoryNotContaining(path -> !path.equals(database));
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void aPageThatCannotBeWritten() throws Exception {
    Path page = file("page.md", "");
    String bind = "mount --bind $0 $0 && mount -o remount,ro,bind $0";
    Process mount = new ProcessBuilder("sh", "-c", bind, page.toString()).start();
    assumeTrue(mount.waitFor() == 0, "mounting a file needs root");
    try {
      refusedInOneLine(
          Kbx.here("bench", "cheats", "--output", page, "--out", folder.resolve("out")),
          "--output " + page + ": no permission to write it; name another");
      assertThat(folder.resolve("out")).doesNotExist();
    } finally {
      var _ = new ProcessBuilder("umount", page.toString()).start().waitFor();
    }
  }

  @Test
  void aBundleThatCannotBeWritten() throws Exception {
    refusedInOneLine(
        Kbx.here("package", "--output", "/proc/x"),
        "--output /proc/x: cannot create a folder there; name another");
  }
}
