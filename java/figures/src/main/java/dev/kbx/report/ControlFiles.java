package dev.kbx.report;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnreadableException;
import dev.kbx.section.ControlsSection;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;

/**
 * The files of {@code kbx tasks verify} in its output folder: {@code controls.jsonl}, a task's
 * verdict a line, and {@code controls.html}, the matrix.
 */
public final class ControlFiles implements AutoCloseable {
  private final Path out;
  private final LineFile lines;

  public ControlFiles(Path out) {
    this.out = out;
    this.lines = new LineFile(out.resolve("controls.jsonl"));
  }

  public Path page() {
    return out.resolve("controls.html");
  }

  /** Verdicts of an earlier run on valid tasks, by {@link TaskVerdict#judgedAs}. */
  public Map<String, TaskVerdict> before() {
    Map<String, TaskVerdict> found = new LinkedHashMap<>();
    try {
      for (String line : Files.readAllLines(lines.path())) {
        try {
          TaskVerdict verdict = Json.mapper().readValue(line, TaskVerdict.class);
          if (verdict.judgedAs() != null && verdict.problem() == null)
            found.put(verdict.judgedAs(), verdict);
        } catch (JacksonException _) {
          // A line truncated by a kill.
        }
      }
    } catch (IOException e) {
      throw new UnreadableException(lines.path(), "cannot be read: " + e.getMessage(), e);
    }
    return found;
  }

  /** Rewrites the file with the verdicts to keep. */
  public void start(Collection<TaskVerdict> kept) {
    lines.rewrite(List.copyOf(kept));
  }

  /** Adds a line; it survives a kill of this process. */
  public void append(TaskVerdict verdict) {
    lines.append(verdict);
  }

  /** Writes all verdicts in their final order, and the page. */
  public void finish(List<TaskVerdict> verdicts, String suite, Verdict.Device device) {
    lines.rewrite(verdicts);
    String page = DocumentPage.of(ControlsSection.page(verdicts, suite, device));
    AtomicFile.replace(page(), writer -> writer.write(page));
  }

  @Override
  public void close() {
    lines.close();
  }
}
