package dev.kbx.cli;

import dev.kbx.document.Text;
import dev.kbx.verdict.Verdict;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A line of {@code kbx eval --watch}: what came of a source, and what it was before. */
final class WatchText {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private WatchText() {}

  /**
   * For example {@code 14:03:12 Activation/gelu: correct (was wrong_values), 1.32x (was 1.10x)}.
   *
   * @param before null for a source that is new
   */
  static String line(LocalTime time, @Nullable Verdict before, Verdict now) {
    String was = before == null ? "" : before.judgement().status().label();
    String status = changed(now.judgement().status().label(), was);
    String speed = speed(now);
    if (!speed.isEmpty()) speed = ", " + changed(speed, before == null ? "" : speed(before));
    String message =
        now.judgement().message() == null ? "" : ": " + firstLine(now.judgement().message());
    String task = Text.clean(now.provenance().category() + "/" + now.provenance().task());
    return TIME.format(time) + " " + task + ": " + status + speed + message;
  }

  private static String changed(String now, String before) {
    return before.isEmpty() || before.equals(now) ? now : now + " (was " + before + ")";
  }

  private static String speed(Verdict verdict) {
    Verdict.Speedup speedup = verdict.judgement().speedup();
    return speedup == null ? "" : "%.2fx".formatted(speedup.value());
  }

  private static String firstLine(String text) {
    return Text.clean(text.lines().findFirst().orElse(""));
  }
}
