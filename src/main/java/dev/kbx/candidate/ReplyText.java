package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The part of a reply that is meant for the reader. */
final class ReplyText {
  private static final Pattern THOUGHT_TAG =
      Pattern.compile("<(/?)(think|thinking|thought|reasoning)>");

  private static final Pattern START_OF_THOUGHT =
      Pattern.compile("\\A\\s*+<(?:think|thinking|thought|reasoning)>");

  private static final Pattern START_TOKEN =
      Pattern.compile("\\A\\s*+(?:<s>|<\\|(?:im_start|begin_of_text)\\|>)(?:assistant\\n)?");

  /** Text after an end token is not part of the reply. */
  private static final Pattern END_TOKEN =
      Pattern.compile(
          "<[|｜](?:im_end|EOT|eot_id|endoftext|end_of_text|end|eom_id"
              + "|end▁of▁sentence)[|｜]>|<end_of_turn>|</s>(?=\\s*+\\z)");

  private ReplyText() {}

  /** The reply without thinking, start and end tokens, leading blank lines and a mark there. */
  static String answer(String reply) {
    String text = withoutThoughts(reply);
    text = START_TOKEN.matcher(text).replaceFirst("");
    Matcher end = END_TOKEN.matcher(text);
    if (end.find()) text = text.substring(0, end.start());
    return ByteOrderMark.without(withoutBlankLines(text));
  }

  /**
   * Leaves out thoughts between tags, everything before a closing tag without an opening one (which
   * may have been part of the prompt), and an opening tag at the start that is never closed.
   */
  private static String withoutThoughts(String reply) {
    Map<String, Integer> lastClosing = new HashMap<>();
    List<MatchResult> tags = THOUGHT_TAG.matcher(reply).results().toList();
    for (MatchResult tag : tags) if (closes(tag)) lastClosing.put(tag.group(2), tag.start());
    StringBuilder kept = new StringBuilder();
    String open = null;
    int from = 0;
    for (MatchResult tag : tags) {
      if (open == null && closes(tag)) {
        kept.setLength(0);
        from = tag.end();
      } else if (open == null && lastClosing.getOrDefault(tag.group(2), -1) > tag.start()) {
        kept.append(reply, from, tag.start());
        open = tag.group(2);
      } else if (closes(tag) && tag.group(2).equals(open)) {
        open = null;
        from = tag.end();
      }
    }
    return START_OF_THOUGHT.matcher(kept.append(reply, from, reply.length())).replaceFirst("");
  }

  private static boolean closes(MatchResult tag) {
    return !tag.group(1).isEmpty();
  }

  private static String withoutBlankLines(String text) {
    int start = 0;
    for (int i = 0; i < text.length() && Character.isWhitespace(text.charAt(i)); i++) {
      if (text.charAt(i) == '\n') start = i + 1;
    }
    return text.substring(start);
  }
}
