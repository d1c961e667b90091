package dev.kbx.candidate;

import dev.kbx.task.Task;
import java.io.IOException;
import java.util.zip.CRC32C;

/** Source in a line of a JSONL file, read on demand. */
final class Prediction implements Source {
  private final Predictions file;
  private final Task task;
  private final String member;
  private final int line;
  private final long offset;
  private final int length;
  private final int sum;

  Prediction(Predictions file, Lines.Line line, Task task, String member) {
    this.file = file;
    this.task = task;
    this.member = member;
    this.line = line.number();
    this.offset = line.offset();
    this.length = Math.toIntExact(line.length());
    this.sum = line.sum();
  }

  @Override
  public Text held() {
    byte[] bytes;
    try {
      bytes = file.read(offset, length);
    } catch (IOException e) {
      throw new ChangedFile(file.file(), line, "cannot be read any more (" + e.getMessage() + ")");
    }
    if (sum(bytes) != sum) throw new ChangedFile(file.file(), line, "has changed");
    return Extraction.source(Predictions.answer(bytes, member), task);
  }

  /** The checksum of the line; needs no reading. */
  @Override
  public int sum() {
    return sum;
  }

  /** A checksum against accidental changes; takes about a microsecond. */
  static int sum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
