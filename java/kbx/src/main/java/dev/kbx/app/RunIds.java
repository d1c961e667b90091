package dev.kbx.app;

import dev.kbx.verdict.RunInfo;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Ids of runs: sortable by start, unique between machines, easy to type. */
public final class RunIds {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);
  private static final String LETTERS = "bcdfghjkmnpqrstvwxz";

  private static final int MOST_LISTED = 5;

  private RunIds() {}

  /** Lists runs in words: all ids if they are few, else the newest. */
  static String newest(List<RunInfo> runs) {
    if (runs.isEmpty()) return "there is none yet";
    String ids = String.join(", ", runs.stream().limit(MOST_LISTED).map(RunInfo::id).toList());
    return runs.size() <= MOST_LISTED
        ? "there: " + ids
        : "the newest of the %d there: %s".formatted(runs.size(), ids);
  }

  public static String next() {
    StringBuilder id = new StringBuilder(TIME.format(Instant.now())).append('-');
    SecureRandom random = new SecureRandom();
    for (int i = 0; i < 4; i++) id.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    return id.toString();
  }
}
