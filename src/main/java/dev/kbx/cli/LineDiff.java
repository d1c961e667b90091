package dev.kbx.cli;

import java.util.ArrayList;
import java.util.List;

/** The difference of two texts by lines, as {@code diff -u} writes it. */
final class LineDiff {
  private static final int CONTEXT = 3;

  /** Pairs of lines that are compared at most: 100 MB. */
  private static final long MOST_PAIRS = 25_000_000;

  private final List<String> before;
  private final List<String> after;
  private final List<Step> steps;

  /**
   * One line.
   *
   * @param sign {@code ' '}, {@code '-'} or {@code '+'}
   * @param before lines of the old text before it
   * @param after lines of the new text before it
   */
  private record Step(char sign, String line, int before, int after) {}

  LineDiff(String before, String after) {
    this.before = before.lines().toList();
    this.after = after.lines().toList();
    this.steps = steps();
  }

  int linesBefore() {
    return before.size();
  }

  int linesAfter() {
    return after.size();
  }

  /** Twice the common lines over all lines; 1 for equal texts. */
  double similarity() {
    long common = steps.stream().filter(step -> step.sign() == ' ').count();
    int all = before.size() + after.size();
    return all == 0 ? 1 : 2.0 * common / all;
  }

  /** By the longest common subsequence; of very long texts all lines count as changed. */
  private List<Step> steps() {
    if ((long) before.size() * after.size() > MOST_PAIRS) return replaced();
    int[][] longest = new int[before.size() + 1][after.size() + 1];
    for (int i = before.size() - 1; i >= 0; i--) {
      for (int j = after.size() - 1; j >= 0; j--) {
        longest[i][j] =
            before.get(i).equals(after.get(j))
                ? longest[i + 1][j + 1] + 1
                : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    List<Step> all = new ArrayList<>();
    int i = 0;
    int j = 0;
    while (i < before.size() || j < after.size()) {
      boolean same = i < before.size() && j < after.size() && before.get(i).equals(after.get(j));
      if (same) {
        all.add(new Step(' ', before.get(i), i++, j++));
      } else if (i < before.size()
          && (j == after.size() || longest[i + 1][j] >= longest[i][j + 1])) {
        all.add(new Step('-', before.get(i), i++, j));
      } else {
        all.add(new Step('+', after.get(j), i, j++));
      }
    }
    return all;
  }

  private List<Step> replaced() {
    List<Step> all = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) all.add(new Step('-', before.get(i), i, 0));
    for (int j = 0; j < after.size(); j++) {
      all.add(new Step('+', after.get(j), before.size(), j));
    }
    return all;
  }

  /** The hunks under a heading with these names; empty for equal texts. */
  String unified(String nameBefore, String nameAfter) {
    StringBuilder text = new StringBuilder();
    for (int from = firstChange(0); from < steps.size(); ) {
      int begin = Math.max(0, from - CONTEXT);
      int end = endOfHunk(from);
      hunk(text, steps.subList(begin, end));
      from = firstChange(end);
    }
    return text.isEmpty() ? "" : "--- %s\n+++ %s\n%s".formatted(nameBefore, nameAfter, text);
  }

  private int firstChange(int from) {
    int at = from;
    while (at < steps.size() && steps.get(at).sign() == ' ') at++;
    return at;
  }

  /** Changes with less than twice the context between them are of one hunk. */
  private int endOfHunk(int change) {
    int end = change;
    for (int at = change; at < steps.size() && at <= end + 2 * CONTEXT; at++) {
      if (steps.get(at).sign() != ' ') end = at;
    }
    return Math.min(steps.size(), end + 1 + CONTEXT);
  }

  private static void hunk(StringBuilder text, List<Step> lines) {
    long old = lines.stream().filter(step -> step.sign() != '+').count();
    long now = lines.stream().filter(step -> step.sign() != '-').count();
    Step first = lines.getFirst();
    text.append("@@ -%s +%s @@\n".formatted(range(first.before(), old), range(first.after(), now)));
    for (Step step : lines) text.append(step.sign()).append(step.line()).append('\n');
  }

  private static String range(int before, long count) {
    return count == 0 ? before + ",0" : "%d,%d".formatted(before + 1, count);
  }
}
