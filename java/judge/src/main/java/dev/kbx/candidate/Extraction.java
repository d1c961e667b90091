package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The Python source in a model's reply, and the rule that found it.
 *
 * <p>A reply that is a Python file with the task's entry is unchanged. From any other, thinking and
 * end tokens are removed, and these are tried in order:
 *
 * <ol>
 *   <li>Markdown blocks ({@link Blocks}); without a fence, all of the text;
 *   <li>values of JSON objects and Python dictionaries ({@link QuotedCode}), and XML elements
 *       ({@link TaggedCode}): the outermost ones;
 *   <li>what lies in Markdown blocks that are not Python;
 *   <li>lines of Python between lines of prose ({@link Extraction.ProseLines}).
 * </ol>
 *
 * <p>Source that parses and has the entry goes before source that has the entry, and that before
 * any other source. What a wrapper holds is treated as a reply, since wrappers may be nested.
 *
 * @param code the source; empty if none was found
 * @param rule {@code whole, fence, unclosed fence, fences joined, json, xml, prose} or {@code none}
 * @param found whether the reply holds source at all
 */
public record Extraction(String code, String rule, boolean found) {
  static final String FENCE = "fence";
  static final String PROSE = "prose";

  private static final String WHOLE = "whole";
  private static final String NONE = "none";

  /** Wrappers within wrappers that are opened. */
  private static final int DEPTH = 3;

  /** The source for {@code task}. Accepts any text; takes time proportional to its length. */
  public static Extraction of(String reply, Task task) {
    Found found = find(ByteOrderMark.withoutBelowBlanks(reply), task, DEPTH);
    return found.rank() == Rank.NOTHING
        ? new Extraction("", NONE, false)
        : new Extraction(found.source().code(), found.rule(), true);
  }

  /**
   * The source in a published kernel, as {@code kbx eval} finds it: without the original's tests.
   */
  public static String published(String text, Task task) {
    return source(SourceFiles.withoutTests(text), task).code();
  }

  /**
   * The code of a reply for the referee, which also judges a reply without code: the text as it is.
   */
  public static Source.Text source(String reply, Task task) {
    return find(ByteOrderMark.withoutBelowBlanks(reply), task, DEPTH).source();
  }

  /** How likely a text is to be the answer, ascending. */
  private enum Rank {
    NOTHING,
    /** Some Python. */
    CODE,
    /** Has the entry and does not parse. */
    ENTRY,
    COMPLETE;

    static Rank of(PythonSource source, Task task) {
      if (hasEntry(source, task)) return source.understood() ? COMPLETE : ENTRY;
      return source.hasCode() ? CODE : NOTHING;
    }
  }

  private record Found(Source.Text source, String rule, Rank rank) {
    static Found of(Source.Text source, String rule, Task task) {
      return new Found(source, rule, Rank.of(source.parsed(), task));
    }

    Found by(String wrapper) {
      return new Found(source, wrapper, rank);
    }
  }

  /** Whether the source binds one of the names that the task's entry may have. */
  static boolean hasEntry(PythonSource source, Task task) {
    return task.entries().stream().anyMatch(source.names()::contains);
  }

  private static Found find(String reply, Task task, int depth) {
    Source.Text whole = new Source.Text(reply, PythonSource.parse(ByteOrderMark.without(reply)));
    if (isComplete(whole, task)) return Found.of(whole, WHOLE, task);
    String text = ReplyText.answer(reply);
    Blocks blocks = Blocks.ofMarkdown(text);
    Found best =
        blocks.isEmpty()
            ? unfenced(text.equals(reply) ? whole : new Source.Text(text), task)
            : inMarkdown(blocks, task);
    for (Supplier<Optional<Found>> rule :
        List.<Supplier<Optional<Found>>>of(
            () -> unwrapped(Wrapped.in(text), task, depth),
            () -> unwrapped(blocks.foreign(), task, depth),
            () -> inProse(text, task))) {
      if (best.rank() == Rank.COMPLETE) return best;
      Optional<Found> found = rule.get();
      if (found.isPresent() && found.get().rank().compareTo(best.rank()) > 0) best = found.get();
    }
    return best;
  }

  private static boolean isComplete(Source.Text source, Task task) {
    return Rank.of(source.parsed(), task) == Rank.COMPLETE;
  }

  private static Found inMarkdown(Blocks blocks, Task task) {
    Blocks.Chosen chosen = blocks.withEntry(task).orElseGet(blocks::longest);
    return Found.of(chosen.source(), chosen.rule(), task);
  }

  /** All of the text, unless it is prose, in which Python's words do not make it Python. */
  private static Found unfenced(Source.Text text, Task task) {
    PythonSource parsed = text.parsed();
    Source.Text all = new Source.Text(text.code(), parsed);
    boolean python = parsed.understood() || !ProseLines.runs(text.code()).isEmpty();
    return python ? Found.of(all, WHOLE, task) : new Found(all, NONE, Rank.NOTHING);
  }

  private static Optional<Found> inProse(String text, Task task) {
    return Blocks.of(ProseLines.runs(text))
        .withEntry(task)
        .map(chosen -> Found.of(chosen.source(), PROSE, task));
  }

  /** The best of what wrappers hold; of equals the last, since drafts come first. */
  private static Optional<Found> unwrapped(List<Wrapped> contents, Task task, int depth) {
    if (depth == 0) return Optional.empty();
    Found best = null;
    for (Wrapped wrapped : contents) {
      Found found = find(wrapped.content(), task, depth - 1).by(wrapped.rule());
      if (best == null || found.rank().compareTo(best.rank()) >= 0) best = found;
    }
    return Optional.ofNullable(best);
  }

  /** The part of a reply that is meant for the reader. */
  private static final class ReplyText {
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
     * Leaves out thoughts between tags, everything before a closing tag without an opening one
     * (which may have been part of the prompt), and an opening tag at the start that is never
     * closed.
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

  /** Finds runs of lines of Python in prose, by what lines begin with. */
  private static final class ProseLines {
    /** A line that Python code may begin with. */
    private static final Pattern START =
        Pattern.compile(
            "(?:import \\w[\\w., ]*+(?: as \\w+)?|from [\\w.]++ import .*|@\\w.*|(?:async )?def"
                + " \\w++ ?\\(.*|class \\w++"
                + " ?[:(].*|[rR]?(?:\"\"\"|''').*|[A-Za-z_][\\w.]*+(?:\\[[^\\]]*+\\])?(?::"
                + " ?[\\w.\\[\\], ]++)? ?[-+*/|&]?=(?!=).*)\\s*+");

    /** A line within code, at column 1. */
    private static final Pattern CONTINUING =
        Pattern.compile(
            "(?:#.*|[)\\]}].*|(?:if|elif|for|while|with|try|except|else|finally)\\b.*:(?:\\s*+#.*)?"
                + "|(?:raise|assert|del|global|pass|return)\\b.*|[A-Za-z_][\\w.]*+[(\\[].*)\\s*+");

    private final List<String> runs = new ArrayList<>();
    private final StringBuilder run = new StringBuilder();

    /** The triple quotes of an open string. */
    private @Nullable String open;

    private ProseLines() {}

    /** Runs of lines of Python, in order. */
    static List<String> runs(String text) {
      ProseLines reader = new ProseLines();
      for (String line : text.split("(?<=\n)", -1)) reader.line(line);
      reader.end();
      return reader.runs;
    }

    private void line(String line) {
      if (open == null && !isCode(line)) {
        end();
        return;
      }
      run.append(line);
      open = openAfter(line, open);
    }

    private boolean isCode(String line) {
      String bare = ByteOrderMark.without(line.stripTrailing());
      if (run.isEmpty()) return START.matcher(bare).matches();
      return bare.isEmpty()
          || Character.isWhitespace(bare.charAt(0))
          || START.matcher(bare).matches()
          || CONTINUING.matcher(bare).matches();
    }

    private void end() {
      if (!run.isEmpty()) runs.add(run.toString().stripTrailing() + "\n");
      run.setLength(0);
      open = null;
    }

    /** The triple quotes that are open after a line. */
    private static @Nullable String openAfter(String line, @Nullable String before) {
      String quotes = before;
      for (int at = 0; at < line.length(); at++) {
        if (quotes == null && line.charAt(at) == '#') return null;
        String three = line.substring(at, Math.min(line.length(), at + 3));
        boolean triple = three.equals("\"\"\"") || three.equals("'''");
        if (!triple || (quotes != null && !quotes.equals(three))) continue;
        quotes = quotes == null ? three : null;
        at += 2;
      }
      return quotes;
    }
  }
}
