package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the files of KernelBench lie in a checkout. */
class OriginalLevelsTest {
  @TempDir private Path checkout;

  @Test
  void levelsAndFilesAreOrderedByNumber() throws IOException {
    List<String> files =
        List.of("level1/2_Two.py", "level1/10_Ten.py", "level2/1_One.py", "level10/1_One.py");
    for (String file : files) {
      Path path = checkout.resolve("KernelBench").resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, "class Model: ...\n");
    }
    OriginalLevels found = OriginalLevels.find(checkout);
    assertThat(found.files())
        .extracting(file -> found.folder().relativize(file).toString())
        .containsExactlyElementsOf(files);
  }
}
