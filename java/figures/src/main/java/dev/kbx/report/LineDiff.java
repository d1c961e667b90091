package dev.kbx.report;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import com.github.difflib.patch.Patch;
import java.util.List;
import java.util.stream.Collectors;

/** The difference of two texts by lines, as {@code diff -u} writes it. */
public final class LineDiff {
  private static final int CONTEXT = 3;

  private final List<String> before;
  private final List<String> after;
  private final Patch<String> patch;

  public LineDiff(String before, String after) {
    this.before = before.lines().toList();
    this.after = after.lines().toList();
    this.patch = DiffUtils.diff(this.before, this.after);
  }

  public int linesBefore() {
    return before.size();
  }

  public int linesAfter() {
    return after.size();
  }

  /** Twice the common lines over all lines; 1 for equal texts. */
  public double similarity() {
    int all = before.size() + after.size();
    int changed =
        patch.getDeltas().stream()
            .mapToInt(delta -> delta.getSource().size() + delta.getTarget().size())
            .sum();
    return all == 0 ? 1 : (double) (all - changed) / all;
  }

  /** The hunks under a heading with these names; empty for equal texts. */
  public String unified(String nameBefore, String nameAfter) {
    List<String> lines =
        UnifiedDiffUtils.generateUnifiedDiff(nameBefore, nameAfter, before, patch, CONTEXT);
    return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
  }

  /** The hunks alone; empty for equal texts. */
  public String hunks() {
    return unified("", "").lines().skip(2).collect(Collectors.joining("\n"));
  }
}
