package dev.kbx.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.verdict.BriefVerdict;
import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Addresses of pages. */
final class Links {
  private Links() {}

  static String run(String id) {
    return "/runs/" + encoded(id);
  }

  static String task(String suite, String category, String task) {
    return "/tasks/%s/%s/%s".formatted(encoded(suite), encoded(category), encoded(task));
  }

  /** The candidate's page, about its verdict in one run. */
  static String candidate(BriefVerdict verdict, int position) {
    if (verdict.candidate().isEmpty()) return run(verdict.run());
    return query(
        "/candidates/" + encoded(verdict.candidate()),
        List.of(Map.entry("run", verdict.run()), Map.entry("position", position + "")));
  }

  /** An address with those parameters that are not empty. */
  static String query(String path, List<Map.Entry<String, String>> parameters) {
    StringBuilder address = new StringBuilder(path);
    char before = '?';
    for (Map.Entry<String, String> each : parameters) {
      if (each.getValue().isEmpty()) continue;
      address.append(before).append(each.getKey()).append('=').append(encoded(each.getValue()));
      before = '&';
    }
    return address.toString();
  }

  /** One segment of a path, or one value of a query. */
  static String encoded(@Nullable String text) {
    return text == null ? "" : URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }
}
