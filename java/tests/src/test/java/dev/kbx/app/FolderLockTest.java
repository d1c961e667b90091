package dev.kbx.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One writer, and readers that ask what it judges, each a process of its own. */
class FolderLockTest {
  private static final int TIMES = 5_000;

  @TempDir private Path folder;

  /** Asks again and again, and says whenever the answer changes. */
  static final class Reader {
    private Reader() {}

    public static void main(String... arguments) {
      Set<String> known = Set.of("nothing asked yet");
      while (true) {
        Set<String> now = FolderLock.judged(Path.of(arguments[0]));
        if (!now.equals(known)) System.out.println(now);
        known = now;
      }
    }
  }

  private Process reader() throws IOException {
    Process begun =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                Reader.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(begun.inputReader().readLine()).isEqualTo("[]");
    return begun;
  }

  @Test
  void readersDoNotBlockAWriter() throws Exception {
    List<Process> readers = new ArrayList<>();
    try {
      FolderLock.of(folder).close();
      for (int i = 0; i < 2; i++) readers.add(reader());
      for (int i = 0; i < TIMES; i++) FolderLock.of(folder).close();
    } finally {
      readers.forEach(Process::destroyForcibly);
    }
  }

  @Test
  void readersSeeTheRunOnlyWhileItIsJudged() throws Exception {
    Process reader = reader();
    try {
      FolderLock lock = FolderLock.of(folder);
      FolderLock.judges(folder, "a");
      String seen = reader.inputReader().readLine();
      lock.close();
      assertThat(seen).isEqualTo("[a]");
      assertThat(reader.inputReader().readLine()).isEqualTo("[]");
    } finally {
      reader.destroyForcibly();
    }
  }
}
