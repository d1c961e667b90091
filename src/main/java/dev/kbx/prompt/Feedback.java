package dev.kbx.prompt;

import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import java.util.Map;

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
    Map<String, Object> values = new Findings(code, judgement).values(profile);
    values.put("entry", task.entry());
    values.put("help", profile ? help(code, judgement, prompts) : "");
    return Excerpts.cut(prompts.render(TEMPLATE, values), LIMIT);
  }

  /** An example of what helps against what bounds the kernel; empty where that is not known. */
  private static String help(String code, Judgement judgement, Prompts prompts) {
    Language language = Language.of(code);
    return Bottleneck.of(judgement)
        .map(bottleneck -> prompts.render(bottleneck.template(), Languages.flags(language)))
        .orElse("");
  }
}
