package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each run has its own folder, and the names at the top lead to the newest. */
class LatestRunTest {
  @TempDir private Path out;

  private LatestRun run(String id, String... files) throws Exception {
    LatestRun run = new LatestRun(out, id);
    Files.createDirectories(run.folder());
    for (String file : files) Files.writeString(run.folder().resolve(file), id + " " + file);
    run.link();
    return run;
  }

  @Test
  void newestRunIsLinkedAndThePreviousRunKept() throws Exception {
    LatestRun first = run("first", "results.jsonl", "report.html", "eval_results.json");
    assertThat(out.resolve("report.html")).hasContent("first report.html");
    run("second", "results.jsonl");
    assertThat(out.resolve("results.jsonl")).hasContent("second results.jsonl");
    assertThat(Files.exists(out.resolve("report.html"))).as("not written yet").isFalse();
    assertThat(first.folder().resolve("report.html")).hasContent("first report.html");
    assertThat(out.resolve("eval_results.json")).as("of another run").doesNotExist();
  }

  /** Of several models, say: each has files of its own, and there are no plain ones. */
  @Test
  void linksToFilesThatTheRunLacksAreRemoved() throws Exception {
    run("first", "results.jsonl", "metrics.json");
    Files.writeString(out.resolve("summary.json"), "of an earlier version");
    LatestRun second = run("second", "results.jsonl", "metrics.a.json");
    assertThat(out.resolve("metrics.a.json")).hasContent("second metrics.a.json");
    for (String name : new String[] {"metrics.json", "summary.json"}) {
      assertThat(Files.exists(out.resolve(name), LinkOption.NOFOLLOW_LINKS)).as(name).isFalse();
    }
    Files.move(
        second.folder().resolve("metrics.a.json"), second.folder().resolve("metrics.b.json"));
    second.link();
    assertThat(out.resolve("metrics.b.json")).exists();
    assertThat(Files.exists(out.resolve("metrics.a.json"), LinkOption.NOFOLLOW_LINKS)).isFalse();
  }

  @Test
  void aFileOfAnEarlierVersionIsReplaced() throws Exception {
    Files.writeString(out.resolve("results.jsonl"), "old");
    run("first", "results.jsonl");
    assertThat(out.resolve("results.jsonl")).hasContent("first results.jsonl");
  }

  @Test
  void deletedRunLeavesNoFiles() throws Exception {
    run("first", "results.jsonl", "report.html");
    LatestRun.delete(out, "first");
    assertThat(out.resolve("runs/first")).doesNotExist();
    assertThat(Files.exists(out.resolve("results.jsonl"), LinkOption.NOFOLLOW_LINKS)).isFalse();
    LatestRun.delete(out, "never");
  }
}
