package dev.kbx.prompt;

import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import dev.kbx.check.UnknownRule;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Frame;
import dev.kbx.verdict.Verdict.Mismatch;
import dev.kbx.verdict.Verdict.Operation;
import dev.kbx.verdict.Verdict.Origin;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a model is told about a kernel: from the referee's judgement on development inputs, never
 * from logs. Neither seeds nor inputs are in it, and of the reference nothing but expected
 * elements.
 */
final class Feedback {
  /** The template. */
  static final String TEMPLATE = "parts/feedback";

  /** Characters of the whole text. */
  static final int LIMIT = 12_000;

  private Feedback() {}

  /**
   * Markdown without a heading that ends with a line break; empty for {@link FeedbackKind#NONE}. At
   * most {@value #LIMIT} characters and a note of what is left out.
   *
   * @param code of the kernel that was judged
   */
  static String text(
      Task task, String code, Judgement judgement, FeedbackKind kind, Prompts prompts) {
    if (kind == FeedbackKind.NONE) return "";
    boolean profile = kind == FeedbackKind.PROFILE;
    Map<String, Object> values = new Findings(code, judgement, prompts).values(profile);
    values.put("entry", task.entry());
    values.put("help", profile ? help(code, judgement, prompts) : "");
    return Excerpts.cut(prompts.render(TEMPLATE, values), LIMIT);
  }

  /** An example of what helps against what bounds the kernel; empty where that is not known. */
  private static String help(String code, Judgement judgement, Prompts prompts) {
    Language language = Language.of(code);
    return Speed.Bottleneck.of(judgement)
        .map(bottleneck -> prompts.render(bottleneck.template(), language.flags()))
        .orElse("");
  }

  /**
   * A judgement as the values of the part {@code feedback}; empty text, list or false if unknown.
   */
  private static final class Findings {
    /** Characters of a compiler's or an exception's message. */
    private static final int MESSAGE = 4_000;

    /** Characters of what the kernel's process printed, and of each smaller text. */
    private static final int SHORT = 1_000;

    private static final int MISMATCHES = 8;
    private static final int FRAMES = 8;
    private static final int BREAKS = 12;
    private static final int OPERATIONS = 6;

    private static final List<String> FLAGS =
        List.of("nondeterministic", "large_workspace", "too_slow", "clock_gap", "state_ignored");

    private static final Pattern LINE = Pattern.compile("\\bline (\\d{1,6})\\b");

    private final String code;
    private final Judgement judgement;
    private final Prompts prompts;

    Findings(String code, Judgement judgement, Prompts prompts) {
      this.code = code;
      this.judgement = judgement;
      this.prompts = prompts;
    }

    /**
     * The values, in a new map.
     *
     * @param profile with what {@link FeedbackKind#PROFILE} adds
     */
    Map<String, Object> values(boolean profile) {
      Map<String, Object> values = new HashMap<>(new Speed(judgement, profile, prompts).values());
      values.put("status", judgement.status().label());
      values.put("stage", judgement.stage().label());
      values.put("memory", memory());
      values.put("correct", judgement.status() == Status.CORRECT);
      values.put("unjudged", judgement.status().blame() == Status.Blame.KBX);
      values.put("message", Excerpts.cut(Excerpts.orEmpty(judgement.message()), MESSAGE));
      values.put("source", sourceLine());
      values.put(
          "frames", Excerpts.first(judgement.frames(), FRAMES).stream().map(this::frame).toList());
      values.put("rule", rule());
      values.put("evidence", Excerpts.cut(Excerpts.orEmpty(judgement.evidence()), SHORT));
      values.put("origin", origin(judgement.origin()));
      values.put("output", Excerpts.cut(Excerpts.orEmpty(judgement.output()).strip(), SHORT));
      values.put("flags", flags());
      addValues(values);
      return values;
    }

    private void addValues(Map<String, Object> values) {
      values.put(
          "mismatches",
          Excerpts.first(judgement.mismatches(), MISMATCHES).stream()
              .map(Findings::mismatch)
              .toList());
      values.put("times", timesTheAllowedError());
      values.put("holds", String.join(", ", Excerpts.first(judgement.holds(), Integer.MAX_VALUE)));
      values.put(
          "breaks",
          Excerpts.first(judgement.breaks(), BREAKS).stream().map(Findings::broken).toList());
    }

    /** The line of the kernel that a message names, unless frames show it. */
    private Object sourceLine() {
      if (judgement.frames() != null || judgement.message() == null) return false;
      Matcher line = LINE.matcher(judgement.message());
      if (!line.find()) return false;
      String text = line(Integer.parseInt(line.group(1)));
      return text.isBlank() ? false : Map.of("line", line.group(1), "text", text);
    }

    private String line(int number) {
      String text = code.lines().skip(Math.max(0, number - 1)).findFirst().orElse("").strip();
      return Excerpts.cut(text, SHORT);
    }

    private Map<String, String> frame(Frame frame) {
      String text = frame.text() == null ? line(frame.line()) : frame.text();
      return Map.of(
          "line", String.valueOf(frame.line()),
          "function", frame.function(),
          "text", Excerpts.cut(text, SHORT));
    }

    /**
     * Of each status that says why a kernel is wrong whose result may be right, if it is this one.
     */
    private Map<String, Boolean> memory() {
      return Arrays.stream(Status.values())
          .filter(Status::ofMemory)
          .collect(Collectors.toMap(Status::label, judgement.status()::equals));
    }

    /** The rule that rejects; false without one. */
    private Object rule() {
      String id = judgement.rule();
      if (id == null) return false;
      try {
        RuleInfo info = Rules.info(id);
        boolean said = Excerpts.orEmpty(judgement.message()).contains(info.advice());
        return Map.of("id", id, "rationale", info.rationale(), "advice", said ? "" : info.advice());
      } catch (UnknownRule _) {
        return Map.of("id", id, "rationale", "", "advice", ""); // Of another version.
      }
    }

    private static Object origin(@Nullable Origin origin) {
      if (origin == null || origin.operations().isEmpty()) return false;
      Double foreign = origin.foreignShare();
      return Map.of(
          "kernels", percent(origin.kernelShare()),
          "others", foreign == null ? "" : percent(foreign),
          "operations",
              Excerpts.first(origin.operations(), OPERATIONS).stream()
                  .map(Findings::operation)
                  .toList());
    }

    private static Map<String, String> operation(Operation operation) {
      Integer line = operation.line();
      return Map.of(
          "name", operation.name(),
          "line", line == null ? "" : String.valueOf(line),
          "share", percent(operation.share()));
    }

    private static Map<String, String> mismatch(Mismatch wrong) {
      return Map.of(
          "place",
          wrong.output() + wrong.index(),
          "expected",
          wrong.expected(),
          "got",
          wrong.got());
    }

    /** The largest error over the allowed one, where it is above 1. */
    private String timesTheAllowedError() {
      Map<String, Double> errors = judgement.errorMetrics();
      Double ratio = errors == null ? null : errors.get("error_ratio");
      return ratio == null || ratio <= 1 ? "" : Speed.Numbers.text(ratio);
    }

    private static Map<String, String> broken(Break found) {
      String why = Excerpts.orEmpty(found.message());
      return Map.of(
          "property", found.property(),
          "case", found.call(),
          "status", found.status().label(),
          "message", Excerpts.cut(why.isEmpty() ? found.call() : why, SHORT));
    }

    private Map<String, Boolean> flags() {
      Map<String, Boolean> flags = new HashMap<>();
      for (String flag : FLAGS) flags.put(flag, judgement.flags().contains(flag));
      return flags;
    }

    private static String percent(double share) {
      return Speed.Numbers.percent(share);
    }
  }

  /** Cuts text to the length that a prompt has for it. */
  static final class Excerpts {
    private Excerpts() {}

    /** The text, or its start and end with a note of how much is left out between them. */
    static String cut(String text, int limit) {
      if (text.length() <= limit) return text;
      int head = boundary(text, limit / 2);
      int tail = boundary(text, text.length() - limit / 2);
      return "%s\n[... %d characters left out ...]\n%s"
          .formatted(text.substring(0, head), tail - head, text.substring(tail));
    }

    /** A place that does not split a surrogate pair. */
    private static int boundary(String text, int at) {
      return at > 0 && Character.isLowSurrogate(text.charAt(at)) ? at - 1 : at;
    }

    /** The first items of a list; empty for null. */
    static <T> List<T> first(@Nullable List<T> items, int most) {
      return items == null ? List.of() : items.subList(0, Math.min(most, items.size()));
    }

    /** The text, or nothing. */
    static String orEmpty(@Nullable String text) {
      return text == null ? "" : text;
    }

    /** Source in a fence that is longer than any within it. */
    static Map<String, String> fenced(String code) {
      String fence = "```";
      while (code.contains(fence)) fence += "`";
      String ended = code.isEmpty() || code.endsWith("\n") ? code : code + "\n";
      return Map.of("fence", fence, "code", ended);
    }
  }
}
