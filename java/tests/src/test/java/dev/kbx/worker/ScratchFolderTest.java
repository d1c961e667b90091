package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What processes leave of their temporary files, each of them a process of its own. */
class ScratchFolderTest {
  /** One that has no name. */
  private static final int STRANGER = 54_321;

  private static final String NAME = "kbx-123456789";
  private static final int FOLDERS = 10;
  private static final int LATER = 20;

  @TempDir private Path given;

  /** A process that makes a folder, and deletes it when stdin ends. */
  static final class Start {
    private Start() {}

    public static void main(String... arguments) throws IOException {
      System.out.println(ScratchFolder.files());
      while (System.in.read() >= 0) {}
      ScratchFolder.delete();
    }
  }

  private static Process begin(Path parent, String... before) throws IOException {
    List<String> command = new ArrayList<>(List.of(before));
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of("-Xmx64m", "-Djava.io.tmpdir=" + parent, "-XX:-UsePerfData"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Start.class.getName()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("TMPDIR");
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void startAndEnd(Path parent, String... before) throws Exception {
    Process begun = begin(parent, before);
    begun.outputWriter().close();
    assertThat(begun.waitFor()).isZero();
  }

  private static Path abandoned(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("workers/a/b"));
    Files.writeString(folder.resolve("workers/a/b/c"), "c");
    Files.createDirectories(folder.resolve("files"));
    Files.createFile(folder.resolve("lock"));
    return folder;
  }

  private Path unlocked(int number, String within) throws IOException {
    Path folder = given.resolve(NAME + number);
    Files.createDirectories(folder.resolve(within));
    return folder;
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(each -> each.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void folderOfAKilledProcessIsDeletedByTheNext() throws Exception {
    Process killed = begin(given);
    Path files = Path.of(killed.inputReader().readLine());
    Path link =
        Files.createSymbolicLink(files.resolve("link"), Files.createFile(given.resolve("x")));
    startAndEnd(given);
    assertThat(link).as("one in use").exists();
    int _ = killed.destroyForcibly().waitFor();
    startAndEnd(given);
    assertThat(names(given)).containsExactly("x");
  }

  @Test
  void folderWrittenDuringDeletionIsDeletedLater() throws Exception {
    List<Path> folders = new ArrayList<>();
    for (int i = 0; i < FOLDERS; i++) folders.add(abandoned(given.resolve(NAME + i)));
    AtomicBoolean over = new AtomicBoolean();
    Thread writer = Thread.ofPlatform().start(() -> write(folders, over));
    try {
      startAndEnd(given);
    } finally {
      over.set(true);
      writer.join();
    }
    for (Path each : folders) {
      if (Files.exists(each)) assertThat(each.resolve("lock")).exists();
    }
    // Each takes a limited time, and the machine may be slow.
    for (int i = 0; i < LATER && !names(given).isEmpty(); i++) startAndEnd(given);
    assertThat(names(given)).isEmpty();
  }

  /** As workers do that have not ended yet. */
  private static void write(List<Path> folders, AtomicBoolean over) {
    while (!over.get()) {
      for (Path each : folders) {
        try {
          Path made = Files.createTempDirectory(each.resolve("workers"), "w");
          Files.createFile(made.resolve("file"));
        } catch (IOException e) {
          // It has been deleted.
        }
      }
    }
  }

  @Test
  void halfMadeFolderOfAKilledProcessIsDeleted() throws Exception {
    FileTime before = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    Path old = Files.createDirectory(given.resolve("." + NAME + 1));
    Path locked = abandoned(given.resolve("." + NAME + 2));
    for (Path each : List.of(old, locked)) {
      Path _ = Files.setLastModifiedTime(each, before);
    }
    Files.createDirectory(given.resolve("." + NAME + 3));
    for (String other : List.of(".kbx-x", "kbx-cluster-0", NAME + "4x")) {
      Path _ = Files.setLastModifiedTime(abandoned(given.resolve(other)), before);
    }
    for (Path each : List.of(Files.createDirectory(given.resolve("kbx-5")), unlocked(5, "mine"))) {
      Path _ = Files.setLastModifiedTime(each, before);
    }
    Path _ = unlocked(6, "workers");
    Path _ = Files.setLastModifiedTime(unlocked(7, "workers"), before);
    startAndEnd(given);
    assertThat(names(given))
        .as("one that is being made, and what is not of kbx")
        .containsExactlyInAnyOrder(
            "kbx-5", "." + NAME + 3, ".kbx-x", NAME + "4x", NAME + 5, NAME + 6, "kbx-cluster-0");
  }

  @Test
  void unnamedUserDeletesItsFolders() throws Exception {
    assumeTrue((int) Files.getAttribute(given, "unix:uid") == 0, "only root becomes another user");
    Path parent = Files.createDirectory(given.resolve("parent"));
    Files.setPosixFilePermissions(given, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path own = abandoned(parent.resolve(NAME + 1));
    try (Stream<Path> all = Files.walk(own)) {
      for (Path each : all.toList()) {
        Path _ = Files.setAttribute(each, "unix:uid", STRANGER);
      }
    }
    Files.setPosixFilePermissions(
        own.resolve("workers/a/b"), PosixFilePermissions.fromString("r-xr-xr-x"));
    Files.setPosixFilePermissions(
        own.resolve("workers/a"), PosixFilePermissions.fromString("---------"));
    Path _ = abandoned(parent.resolve(NAME + 2));
    startAndEnd(
        parent, "setpriv", "--reuid=" + STRANGER, "--regid=" + STRANGER, "--clear-groups", "--");
    assertThat(names(parent)).containsExactly(NAME + 2);
  }
}
