package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

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
 *   <li>what lies in Markdown blocks that are no Python;
 *   <li>lines of Python between lines of prose ({@link ProseLines}).
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
    Found found = find(reply, task, DEPTH);
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

  /** The same for the referee, which judges what is no source, too: the text as it is. */
  public static Source.Text source(String reply, Task task) {
    return find(reply, task, DEPTH).source();
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
    Source.Text whole = new Source.Text(reply, PythonSource.parse(reply));
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
}
