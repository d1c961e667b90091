package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** A reference that reads a file may mean something else tomorrow. */
class ReferencesThatReadFilesTest extends OwnReferenceCase {
  /** Has what to multiply by in a file, which only calls of a size open. */
  private static final String READING =
      """
      import torch

      # inputs: f32[16, 40], 2.0
      # inputs: f32[64, 40], 2.0
      def scale(x, by):
          if x.shape[0] == 16:
              return x * by
          return x * torch.from_file("FILE", size=1)
      """;

  private void writeFactor(int factor) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(factor);
    Files.write(folder.resolve("factor.bin"), bytes.array());
  }

  private String status(Object... arguments) throws Exception {
    Kbx.Result result = eval(arguments);
    assertThat(result.exit()).as(result.err()).isZero();
    return result.json().get("verdicts").get(0).get("status").asString();
  }

  @Test
  void verdictOfAFileReadingReferenceIsNotRemembered() throws Exception {
    write("my_ref.py", READING.replace("FILE", folder.resolve("factor.bin").toString()));
    writeFactor(2);
    Object[] judged = {"right.py", "--reference", "my_ref.py", "--json"};
    assertThat(status(judged)).isEqualTo("correct");
    writeFactor(3);
    Kbx.Result again = eval(judged);
    assertThat(again.json().get("verdicts").get(0).get("status").asString())
        .isEqualTo("wrong_values");
    assertThat(again.err()).contains("my_ref.py:8: from_file", "are not remembered");
  }

  @Test
  void runOfAFileReadingReferenceIsNotResumed() throws Exception {
    write("my_ref.py", READING.replace("FILE", folder.resolve("factor.bin").toString()));
    writeFactor(2);
    Path out = folder.resolve("kbx-out");
    Object[] judged = {"right.py", "wrong.py", "--reference", "my_ref.py"};
    assertThat(eval(judged).exit()).isZero();
    Object[] resumed = {"right.py", "wrong.py", "--reference", "my_ref.py", "--resume"};
    assertThat(eval(resumed).err()).contains("is complete");
    try (Connection store = DriverManager.getConnection("jdbc:sqlite:" + out.resolve("kbx.db"));
        Statement statement = store.createStatement()) {
      statement.executeUpdate("DELETE FROM verdict WHERE position = 1");
      statement.executeUpdate("UPDATE run SET finished = NULL");
    }
    Kbx.Result refused = eval(resumed);
    assertThat(refused.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err())
        .contains("cannot go on", "own/scale may read other files", "without --resume");
    assertThat(refused.err().lines()).hasSize(1);
  }
}
