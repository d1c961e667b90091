package dev.kbx.cli;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Answered;
import dev.kbx.generate.Unit;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernels that methods wrote, as files: {@code answers/METHOD/Category/task.py}, further
 * samples as {@code task.sample1.py}. Safe for several threads.
 */
final class AnswerFiles {
  private final Path folder;

  /**
   * @param ledger the run's ledger, beside which they are
   */
  AnswerFiles(Path ledger) {
    this.folder = ledger.resolveSibling("answers");
  }

  /** Writes an answer that has code. */
  void write(Unit unit, Task task, Answered answered) {
    String code = answered.answer().code();
    if (code == null) return;
    String sample = unit.sample() == 0 ? "" : ".sample" + unit.sample();
    Path file = folder.resolve(unit.method()).resolve(task.path() + sample + ".py");
    try {
      Files.createDirectories(file.getParent());
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    }
    AtomicFile.replace(file, writer -> writer.write(code));
  }

  Path folder() {
    return folder;
  }
}
