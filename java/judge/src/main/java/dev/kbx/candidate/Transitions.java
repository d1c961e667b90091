package dev.kbx.candidate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Lines of KernelBench-X's iteration corpus: a task's kernels before and after a round. What one
 * line has after a round, the next may have before it: it is one candidate.
 */
final class Transitions {
  private static final Pattern ROUND = Pattern.compile("(?:round_)?(\\d{1,6})");

  private final Set<String> seen = new HashSet<>();

  /**
   * One of the two kernels.
   *
   * @param member of the line that has its source
   */
  record Kernel(String member, String code, @Nullable Integer round) {}

  /** Whether a line is one of the corpus. */
  static boolean is(JsonNode row) {
    return row.path("task_id").isString() && row.has("before_code") && row.has("after_code");
  }

  static String task(JsonNode row) {
    return row.path("task_id").asString();
  }

  /** The kernels of a line that were not in a line before. */
  List<Kernel> news(JsonNode row) {
    List<Kernel> news = new ArrayList<>();
    add(news, row, "before_code", "from_round");
    add(news, row, "after_code", "to_round");
    return news;
  }

  private void add(List<Kernel> news, JsonNode row, String member, String roundMember) {
    String code = Predictions.answer(row, member);
    if (code == null || code.isBlank()) return;
    Integer round = round(row.path(roundMember).asString(""));
    String key = "%s %s %s %s".formatted(task(row), row.path("method").asString(""), round, code);
    if (seen.add(DigestUtils.sha256Hex(key))) news.add(new Kernel(member, code, round));
  }

  private static @Nullable Integer round(String text) {
    Matcher round = ROUND.matcher(text);
    return round.matches() ? Integer.valueOf(round.group(1)) : null;
  }
}
