package dev.kbx.method;

import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.llm.ChatRequest.Message.Role;
import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Ask;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.prompt.PromptWriter.Turn;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Requests, from templates. */
final class Asks {
  private Asks() {}

  /** The prompt that begins most methods. */
  static Ask first(Method.Assignment assignment, String id, int repeat) {
    PromptWriter writer = assignment.writer();
    List<Turn> turns = writer.first(assignment.task(), assignment.start());
    return ask(writer, writer.firstTemplate(), turns, id, List.of(), repeat, true, null);
  }

  /** The prompt of the first with earlier kernels, as many as the conditions say. */
  static Ask next(Method.Assignment assignment, String id, List<Outcome> earlier) {
    PromptWriter writer = assignment.writer();
    List<Turn> turns = writer.next(assignment.task(), attempts(earlier));
    return ask(writer, writer.nextTemplate(), turns, id, earlier, 0, true, null);
  }

  /** A request for a kernel by any template; {@code about} is what the values tell of. */
  static Ask kernel(
      Method.Assignment assignment,
      String id,
      String template,
      Map<String, ?> values,
      List<Outcome> about,
      int repeat,
      @Nullable Double temperature) {
    PromptWriter writer = assignment.writer();
    List<Turn> turns = writer.of(template, assignment.task(), values);
    return ask(writer, template, turns, id, about, repeat, true, temperature);
  }

  /** A request for text that is not a kernel. */
  static Ask text(
      Method.Assignment assignment,
      String id,
      String template,
      Map<String, ?> values,
      List<Outcome> about) {
    PromptWriter writer = assignment.writer();
    List<Turn> turns = writer.of(template, assignment.task(), values);
    return ask(writer, template, turns, id, about, 0, false, null);
  }

  private static Ask ask(
      PromptWriter writer,
      String template,
      List<Turn> turns,
      String id,
      List<Outcome> about,
      int repeat,
      boolean code,
      @Nullable Double temperature) {
    return new Ask(
        id,
        messages(turns),
        Map.of(template, writer.version(template)),
        about.stream().filter(o -> o.judgement() != null).map(Outcome::ask).toList(),
        repeat,
        code,
        temperature,
        turns.getLast().stable());
  }

  /** Kernels as prompts show them. */
  static List<PromptWriter.Attempt> attempts(List<Outcome> earlier) {
    return IntStream.range(0, earlier.size())
        .mapToObj(i -> attempt(i, earlier.get(i), earlier.get(i).failure()))
        .toList();
  }

  static PromptWriter.Attempt attempt(int round, Outcome outcome, @Nullable String note) {
    String code = outcome.code() == null ? "" : outcome.code();
    return new PromptWriter.Attempt(round, code, outcome.judgement(), note);
  }

  /** The last of them. */
  static <T> List<T> latest(List<T> all, int most) {
    return List.copyOf(all.subList(Math.max(0, all.size() - most), all.size()));
  }

  private static List<Message> messages(List<Turn> turns) {
    return turns.stream()
        .map(turn -> new Message(Role.valueOf(turn.role().toUpperCase(Locale.ROOT)), turn.text()))
        .toList();
  }
}
