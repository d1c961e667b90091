package dev.kbx.section;

import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Frame;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The lines of a candidate around the one at fault. */
final class SourceExcerpt {
  /** Lines shown before and after it. */
  private static final int AROUND = 4;

  private static final Pattern LINE = Pattern.compile("\\bline (\\d{1,7})\\b");

  private SourceExcerpt() {}

  /** The line at fault: of the deepest stack frame, or the one that the message names. */
  static OptionalInt failing(Judgement judgement) {
    List<Frame> frames = judgement.frames();
    if (frames != null && !frames.isEmpty()) return OptionalInt.of(frames.getLast().line());
    String message = judgement.message();
    if (message == null || judgement.status() == Status.CORRECT) return OptionalInt.empty();
    Matcher line = LINE.matcher(message);
    return line.find() ? OptionalInt.of(Integer.parseInt(line.group(1))) : OptionalInt.empty();
  }

  /** Numbered lines, that one marked by {@code >}; empty if the source has no such line. */
  static String around(String source, int line) {
    List<String> lines = source.lines().toList();
    if (line < 1 || line > lines.size()) return "";
    int last = Math.min(lines.size(), line + AROUND);
    int digits = Integer.toString(last).length();
    StringBuilder excerpt = new StringBuilder();
    IntStream.rangeClosed(Math.max(1, line - AROUND), last)
        .forEach(each ->
            excerpt
                .append(each == line ? "> " : "  ")
                .append(
                    "%%%dd | %%s"
                        .formatted(digits)
                        .formatted(each, lines.get(each - 1))
                        .stripTrailing())
                .append('\n'));
    return excerpt.toString();
  }
}
