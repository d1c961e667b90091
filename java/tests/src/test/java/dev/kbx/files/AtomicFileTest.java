package dev.kbx.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
  @TempDir private Path folder;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void replacedFileHasTheNewContentAndNoDraftIsLeft() throws IOException {
    Path file = folder.resolve("results.json");
    AtomicFile.replace(file, writer -> writer.write("old"));
    AtomicFile.replace(file, writer -> writer.write("\ud800 new"));
    assertThat(file).hasContent("? new");
    AtomicFile.replaceBytes(
        file,
        out -> {
          out.write(7);
          out.close();
        });
    assertThat(file).hasBinaryContent(new byte[] {7});
    assertThat(names()).containsExactly("results.json");
  }

  @Test
  void failedBodyLeavesTheOldFileAndNoDraft() throws IOException {
    Path file = Files.writeString(folder.resolve("results.json"), "old");
    IOException full = new IOException("No space left on device");
    assertThatExceptionOfType(UnwritableException.class)
        .isThrownBy(() ->
            AtomicFile.replace(
                file,
                writer -> {
                  writer.write("half");
                  throw full;
                }))
        .withMessageStartingWith("cannot write " + file + ": No space left on device");
    assertThatExceptionOfType(UnwritableException.class)
        .isThrownBy(() ->
            AtomicFile.replace(
                file,
                _ -> {
                  throw new UncheckedIOException(full);
                }));
    // The body failed, not the file.
    assertThatThrownBy(() ->
            AtomicFile.replace(
                file,
                _ -> {
                  throw new IllegalStateException("body");
                }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(file).hasContent("old");
    assertThat(names()).containsExactly("results.json");
  }

  @Test
  void cacheCreatesMissingFolders() throws IOException {
    Path file = folder.resolve("a/b/c.json");
    AtomicFile.cache(file, "x".getBytes(StandardCharsets.UTF_8));
    AtomicFile.cache(file, "y".getBytes(StandardCharsets.UTF_8));
    assertThat(file).hasContent("y");
    assertThat(folder.resolve("a/b").toFile().list()).containsExactly("c.json");
  }

  @Test
  void secretIsReadableByItsOwnerOnly() throws IOException {
    Path file = folder.resolve("kept/reply.json");
    for (String content : List.of("x", "y")) {
      AtomicFile.secret(file, content.getBytes(StandardCharsets.UTF_8));
      assertThat(file).hasContent(content);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
    }
  }

  @Test
  void linkReplacesAFileOrALink() throws IOException {
    Files.createDirectory(folder.resolve("runs"));
    Files.writeString(folder.resolve("runs/one"), "1");
    Files.writeString(folder.resolve("runs/two"), "2");
    Path link = Files.writeString(folder.resolve("top"), "a file of an older version");
    AtomicFile.link(link, Path.of("runs", "one"));
    assertThat(link).hasContent("1").isSymbolicLink();
    AtomicFile.link(link, Path.of("runs", "two"));
    assertThat(link).hasContent("2");
    assertThat(names()).containsExactly("runs", "top");
  }

  @Test
  void oldDraftsOfKilledProcessesAreDeletedButNotForeignFiles() throws IOException {
    Path abandoned = Files.writeString(folder.resolve(".x.json.1.1.draft"), "half");
    Files.setLastModifiedTime(abandoned, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    Files.writeString(folder.resolve(".y.json.2.1.draft"), "of a process that writes now");
    AtomicFile.cache(folder.resolve("z.json"), new byte[0]);
    assertThat(names()).containsExactly(".y.json.2.1.draft", "z.json");
  }
}
