package dev.kbx.method;

import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.method.Next.Ask;
import dev.kbx.method.Next.Consultation;
import dev.kbx.method.Next.Trial;
import dev.kbx.method.ProgramAnswer.Candidate;
import dev.kbx.method.ProgramAnswer.Prompt;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A method that is a program of the user's. It answers turn by turn; what it wants in one answer is
 * done before it is asked for the next. Its answers are events, so that this method is a pure
 * function as others are, and a recorded run needs no program.
 *
 * <p>What a program is told depends on its own answers and on what came of them, never on which
 * came first: results are told in the order in which they were asked for.
 *
 * @param turns the most answers
 */
record External(int turns) implements Method {
  @Override
  public Next next(Method.Assignment assignment, History history) {
    List<ProgramAnswer> answers = history.answers();
    Map<List<Message>, Integer> repeats = new HashMap<>();
    List<Consultation.Turn> past = new ArrayList<>();
    List<String> news = List.of();
    for (ProgramAnswer answer : answers) {
      past.add(new Consultation.Turn(news, answer));
      if (answer.done() != null) return new Next.Done(answer(history, answer.done().id()));
      List<Ask> asks = new ArrayList<>();
      List<Trial> trials = new ArrayList<>();
      open(answer, history, repeats, asks, trials);
      if (!asks.isEmpty() || !trials.isEmpty()) return new Next.Work(asks, trials);
      news = told(assignment, history, answer);
    }
    if (past.size() >= turns) return new Next.Done(limited(history));
    return new Next.Work(List.of(), List.of(), consultation(history, past, news));
  }

  /** Adds what is not done yet. */
  private static void open(
      ProgramAnswer answer,
      History history,
      Map<List<Message>, Integer> repeats,
      List<Ask> asks,
      List<Trial> trials) {
    for (Prompt prompt : answer.ask()) {
      int repeat = repeats.merge(prompt.messages(), 1, Integer::sum) - 1;
      Outcome known = history.of(prompt.id()).orElse(null);
      if (known == null || !isRead(prompt, known)) asks.add(ask(prompt, repeat));
      else if (prompt.judge() && !known.settled()) trials.add(trial(known));
    }
    for (Candidate candidate : answer.judge()) {
      Outcome known = history.of(candidate.id()).orElseThrow();
      if (!known.settled()) trials.add(trial(known));
    }
  }

  /** Whether the reply is there, and code was looked for in it. */
  private static boolean isRead(Prompt prompt, Outcome known) {
    return known.failure() != null
        || (known.text() != null && (!prompt.kernel() || known.extracted()));
  }

  private static Trial trial(Outcome outcome) {
    return new Trial(outcome.ask(), String.valueOf(outcome.code()));
  }

  private static Ask ask(Prompt prompt, int repeat) {
    return new Ask(
        prompt.id(),
        prompt.messages(),
        Map.of(),
        List.of(),
        repeat,
        prompt.kernel(),
        prompt.temperature(),
        0);
  }

  /** Events of a turn, in the order of the answer. */
  private static List<String> told(
      Method.Assignment assignment, History history, ProgramAnswer answer) {
    List<String> lines = new ArrayList<>();
    for (Prompt prompt : answer.ask()) {
      lines.addAll(ProgramEvents.of(assignment, history.of(prompt.id()).orElseThrow()));
    }
    for (Candidate candidate : answer.judge()) {
      lines.addAll(ProgramEvents.of(assignment, history.of(candidate.id()).orElseThrow()));
    }
    return lines;
  }

  private static Consultation consultation(
      History history, List<Consultation.Turn> past, List<String> news) {
    Set<String> used = new HashSet<>();
    Set<String> kernels = new HashSet<>();
    for (Outcome outcome : history.all()) {
      used.add(outcome.ask());
      if (outcome.code() != null) kernels.add(outcome.ask());
    }
    return new Consultation(past, news, used, kernels);
  }

  private Answer limited(History history) {
    Answer best = Selections.best(history);
    return new Answer(best.ask(), best.code(), "%s, after %d answers".formatted(best.why(), turns));
  }

  private static Answer answer(History history, @Nullable String id) {
    if (id == null) return Selections.best(history);
    return new Answer(id, history.of(id).map(Outcome::code).orElse(null), "chosen by the program");
  }

  @Override
  public int mostCalls() {
    return turns;
  }

  /** What came of a prompt or a candidate, as lines for an external program. */
  private static final class ProgramEvents {
    private ProgramEvents() {}

    static List<String> of(Method.Assignment assignment, Outcome outcome) {
      List<String> lines = new ArrayList<>();
      if (outcome.failure() != null) {
        lines.add(line(event("no_reply", outcome).put("message", outcome.failure())));
      }
      if (outcome.text() != null)
        lines.add(line(event("reply", outcome).put("text", outcome.text())));
      if (outcome.text() != null && outcome.extracted()) {
        lines.add(line(event("extraction", outcome).put("code", outcome.code())));
      }
      if (outcome.judgement() != null)
        lines.add(judgement(assignment, outcome, outcome.judgement()));
      return lines;
    }

    private static ObjectNode event(String name, Outcome outcome) {
      return Json.mapper().createObjectNode().put("event", name).put("id", outcome.ask());
    }

    private static String judgement(
        Method.Assignment assignment, Outcome outcome, Judgement found) {
      ObjectNode node = event("judgement", outcome);
      node.put("correct", Selections.isCorrect(outcome));
      node.put("status", found.status().label());
      if (found.speedup() != null) node.set("speedup", Json.mapper().valueToTree(found.speedup()));
      PromptWriter writer = assignment.writer();
      String feedback = writer.feedback(assignment.task(), String.valueOf(outcome.code()), found);
      if (!feedback.isEmpty()) {
        node.put("feedback", feedback);
        node.set("judgement", Json.mapper().valueToTree(found));
      }
      return line(node);
    }

    private static String line(ObjectNode node) {
      return Json.mapper().writeValueAsString(node);
    }
  }
}
