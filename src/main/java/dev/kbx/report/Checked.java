package dev.kbx.report;

import dev.kbx.check.Finding;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One source that {@code kbx check} has looked at.
 *
 * @param file as the user named it, or found below what the user named
 * @param row line in a file of predictions; null for a file that is the source
 * @param task the task it was checked against, {@code Category/name}; null where it was checked by
 *     itself
 */
public record Checked(
    String file, @Nullable Integer row, @Nullable String task, StaticReport report) {

  /** {@code file}, or {@code file:row}. */
  String name() {
    return row == null ? file : file + ":" + row;
  }

  /** Whether it would end as anything but a candidate to run. */
  public boolean refused() {
    return report.broken().isPresent() || !report.rejections().isEmpty();
  }

  List<Finding> findings(Severity least) {
    return report.findings().stream().filter(f -> f.severity().compareTo(least) <= 0).toList();
  }
}
