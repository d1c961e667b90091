package dev.kbx.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.SimulatedRun;
import dev.kbx.error.InputException;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ReproductionTest {
  private static final String TASK = "Activation/gelu";

  @TempDir private Path folder;

  private String text(String program, Duration limit) throws Exception {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1);
    run.wrong(TASK, "def gelu(): ...", Status.WRONG_VALUES);
    run.store(folder.resolve("out"));
    NamedRun.Found found =
        NamedRun.find(
                List.of(folder.resolve("out").toString()),
                ResultsFolder.ownStore(folder.resolve("out")))
            .getFirst();
    NamedKernel.Judged judged = NamedKernel.judged(found, TASK, "VERDICT");
    return new Reproduction(Home.here(), found.judged().run(), limit)
        .script(judged.verdict(), judged.source(), null, null, python(program))
        .text();
  }

  /** What stands in for Python. */
  private Path python(String program) throws IOException {
    Path file = Files.writeString(folder.resolve("python"), "#!/bin/sh\n" + program);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void aChildMayWriteMoreThanAPipeHoldsBeforeItReads() throws Exception {
    String warns = "head -c 300000 /dev/zero | tr '\\0' x >&2; head -c 300000 /dev/zero; cat";
    assertThat(text(warns, Duration.ofSeconds(30))).hasSizeGreaterThan(300_000).contains(TASK);
  }

  @Test
  void aChildThatDoesNotEndIsEnded() {
    assertThatThrownBy(() -> text("sleep 120", Duration.ofSeconds(1)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("did not end within 1 s");
  }

  @Test
  void aChildThatFailsSaysWhy() {
    assertThatThrownBy(() -> text("echo no such task >&2; exit 1", Duration.ofSeconds(30)))
        .hasMessage("no script can be written: no such task");
  }
}
