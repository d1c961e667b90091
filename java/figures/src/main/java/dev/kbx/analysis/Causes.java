package dev.kbx.analysis;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Why candidates failed, collected beside their rows as verdicts are read. Of all messages of one
 * shape only one is kept.
 */
public final class Causes {
  /**
   * Messages of one shape.
   *
   * @param status of the candidates
   * @param shape as {@link MessageShape} gives it
   * @param example the first of the messages
   * @param task of the candidate that has it
   * @param source of the candidate that has it
   */
  record Message(Status status, String shape, String example, String task, String source) {}

  /** Why one candidate failed. */
  record Cause(Stage stage, @Nullable String rule, @Nullable Message message) {}

  private record Key(Status status, String shape) {}

  /** Messages whose shapes are kept. */
  private static final int SHAPES = 1_000;

  private final Map<Key, Message> messages = new HashMap<>();

  /** Shapes of messages seen last: many candidates of a run fail alike. */
  private final Map<String, String> shapes =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > SHAPES;
        }
      };

  private final Map<Cause, Cause> shared = new HashMap<>();
  private final IdentityHashMap<VerdictRow, Cause> causes = new IdentityHashMap<>();

  /** Adds a verdict that has been read; those of correct candidates are ignored. */
  public void add(VerdictRow row, BriefVerdict verdict) {
    if (row.correct()) return;
    Cause cause = new Cause(verdict.stage(), verdict.rule(), message(row, verdict.message()));
    causes.put(row, shared.computeIfAbsent(cause, same -> same));
  }

  private @Nullable Message message(VerdictRow row, @Nullable String text) {
    if (text == null || text.isBlank()) return null;
    String shape = shapes.computeIfAbsent(text, MessageShape::of);
    return messages.computeIfAbsent(
        new Key(row.status(), shape),
        key -> new Message(row.status(), key.shape(), text, row.path(), row.source()));
  }

  /** The cause of a row that was added. */
  Cause of(VerdictRow row) {
    return Objects.requireNonNull(causes.get(row), "a failed row without its verdict");
  }

  /**
   * What messages about equal mistakes have in common: without the call and the configuration of
   * autotuned kernels, and with placeholders for numbers, names and paths. {@code shape=(37,),
   * standard values: 3 wrong elements of 37, first output[0]: expected 0.5, got nan} gives {@code #
   * wrong elements, first output[#]: expected #, got nan}.
   */
  static final class MessageShape {
    /** Characters of a message that are looked at, and of a shape. */
    private static final int LOOKED_AT = 600;

    private static final int LONGEST = 160;

    /**
     * @param needed one of these texts, without which nothing matches: most messages lack those of
     *     most patterns, and looking for them takes a fraction of the time
     */
    private record Replacement(List<String> needed, Pattern pattern, String by) {
      static Replacement of(List<String> needed, String pattern, String by) {
        return new Replacement(needed, Pattern.compile(pattern), by);
      }

      String in(String text) {
        return needed.stream().anyMatch(text::contains)
            ? pattern.matcher(text).replaceAll(by)
            : text;
      }
    }

    private static final List<Replacement> REPLACEMENTS =
        List.of(
            Replacement.of(List.of(" values: "), "^[^:]{0,300}? values: ", ""),
            Replacement.of(List.of(" values took"), "^[^:]{0,300}? values (?=took)", "a call "),
            Replacement.of(List.of("; with configuration "), "; with configuration [\\s\\S]*$", ""),
            Replacement.of(List.of("called with "), "(?:; |\\n)called with [\\s\\S]*$", ""),
            Replacement.of(List.of("  ", "\t", "\n", "\u000B", "\f", "\r"), "\\s+", " "),
            Replacement.of(
                List.of("'", "\"", "`"),
                "(?<![A-Za-z])'[^']{1,200}'|\"[^\"]{1,200}\"|`[^`]{1,200}`",
                "'…'"),
            Replacement.of(List.of("/"), "(?<![\\w.])(?:~|\\.{1,2})?(?:/[\\w.+-]+){2,}", "PATH"),
            Replacement.of(List.of("0x"), "\\b0x[0-9a-fA-F]+\\b", "#"),
            Replacement.of(
                List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
                "(?<![A-Za-z_0-9])[-+]?\\d++(?:\\.\\d*+)?+(?:[eE][-+]?\\d++)?+",
                "#"),
            Replacement.of(List.of("#,"), "#(?:, ?#)+", "#"),
            Replacement.of(List.of("(#,)"), "\\(#,\\)", "(#)"),
            Replacement.of(
                List.of("# wrong element"),
                "# wrong elements?(?: of #)?(?=,)", // verdicts of earlier versions have no total
                "# wrong elements"));

    private MessageShape() {}

    /** The shape of a message; empty for an empty one. */
    static String of(String message) {
      String text = message.length() > LOOKED_AT ? message.substring(0, LOOKED_AT) : message;
      for (Replacement each : REPLACEMENTS) text = each.in(text);
      text = text.strip();
      return text.length() > LONGEST ? text.substring(0, LONGEST - 1) + "…" : text;
    }
  }
}
