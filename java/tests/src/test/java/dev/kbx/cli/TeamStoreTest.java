package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs in a team's PostgreSQL, and copies between it and results folders. */
class TeamStoreTest {
  private static final Path GELU = Kbx.home().resolve("examples/honest/gelu.py");

  @TempDir private Path folder;
  private final String url = TestPostgres.newDatabase();

  private Kbx.Result eval(Path out, Object... more) {
    Object[] first = {"eval", GELU, "--stages", "static", "--out", out};
    Object[] all = java.util.Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return Kbx.here(all);
  }

  private static String id(Kbx.Result listed) {
    JsonNode runs = listed.json();
    assertThat(runs.size()).isEqualTo(1);
    return runs.get(0).get("id").asString();
  }

  @Test
  void runInADatabaseIsListedShownResumedCopiedAndDeleted() throws Exception {
    Path out = folder.resolve("out");
    assertThat(eval(out, "--store", url).err()).doesNotContain("kbx: jdbc");
    assertThat(out.resolve("kbx.db")).doesNotExist();
    assertThat(out.resolve("results.jsonl")).isNotEmptyFile();
    String run = id(Kbx.here("runs", "list", "--store", url, "--json"));
    assertThat(Kbx.here("runs", "show", run, "--store", url).out())
        .contains("1 of 1 passed the stages asked for.");
    assertThat(eval(folder.resolve("elsewhere"), "--store", url, "--resume").err()).contains(run);
    Path local = folder.resolve("local");
    assertThat(Kbx.here("runs", "copy", url, local).out())
        .isEqualTo("copied   " + run + "  1 verdict\n");
    assertThat(Kbx.here("runs", "copy", local, url).out()).startsWith("there ");
    assertThat(id(Kbx.here("runs", "list", "--out", local, "--json"))).isEqualTo(run);
    assertThat(Kbx.here("runs", "delete", run, "--store", url, "--out", out).exit()).isZero();
    assertThat(Kbx.here("runs", "show", run, "--store", url).err()).contains("no run " + run);
    assertThat(Kbx.here("runs", "copy", local, url, run).out()).startsWith("copied ");
  }

  /** Also what is wrong, and that it is mended. */
  @Test
  void doctorChecksAndMendsAStore() throws Exception {
    Path out = folder.resolve("out");
    assertThat(eval(out).exit()).isZero();
    Object[] doctor = {"doctor", "--device", "cpu", "--out", out};
    Object[] mend = {"doctor", "--device", "cpu", "--out", out, "--mend"};
    Kbx.Result right = Kbx.here(doctor);
    assertThat(right.out())
        .contains("store    %s: 1 run, 1 verdict, nothing wrong\n".formatted(out));
    assertThat(right.exit()).as(right.err()).isZero();
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + out.resolve("kbx.db"));
        var statement = connection.createStatement()) {
      statement.execute("UPDATE verdict SET status = 'crashed'");
    }
    Kbx.Result wrong = Kbx.here(doctor);
    assertThat(wrong.exit()).isEqualTo(2);
    assertThat(wrong.out())
        .contains("store    %s: 1 run, 1 verdict\n".formatted(out))
        .contains(
            "PROBLEM: verdicts whose columns differ from their body: 1;"
                + " kbx doctor --mend mends that\n");
    Kbx.Result mended = Kbx.here(mend);
    assertThat(mended.exit()).isZero();
    assertThat(mended.out())
        .contains("1 verdict, nothing wrong\n")
        .contains("mended: verdicts whose columns differ from their body: 1\n");
    Kbx.Result sound = Kbx.here(doctor);
    assertThat(sound.exit()).as(sound.out() + sound.err()).isZero();
  }

  @Test
  void kbxStoreVariableNamesADatabase() throws Exception {
    Kbx.Result result =
        Kbx.run(
            folder, Map.of("KBX_STORE", url), "eval", GELU, "--stages", "static", "--out", "out");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(Files.exists(folder.resolve("out/kbx.db"))).isFalse();
    assertThat(id(Kbx.here("runs", "list", "--store", url, "--json"))).isNotEmpty();
  }

  @Test
  void unusableStoreAddressIsAOneLineError() {
    assertUnusable("--store mysql://host/x: must be jdbc:postgresql", "mysql://host/x", 1);
    assertUnusable("refused", "jdbc:postgresql://127.0.0.1:1/x?password=hush", 2);
  }

  private void assertUnusable(String message, String address, int exit) {
    Kbx.Result result = eval(folder.resolve("out"), "--store", address);
    assertThat(result.exit()).as(result.err()).isEqualTo(exit);
    assertThat(result.err()).contains(message).hasLineCount(1).doesNotContain("hush");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void storeToCopyFromMustExist() {
    Path to = folder.resolve("to");
    assertThat(eval(folder.resolve("out")).exit()).isZero();
    Kbx.Result unknown = Kbx.here("runs", "copy", folder.resolve("out"), to, "none");
    assertThat(unknown.err()).contains("no run none there").hasLineCount(1);
    assertThat(to).doesNotExist();
    Kbx.Result result = Kbx.here("runs", "copy", folder.resolve("none"), url);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("none: no runs there").hasLineCount(1);
  }
}
