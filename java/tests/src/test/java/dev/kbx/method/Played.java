package dev.kbx.method;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.candidate.Extraction;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.prompt.Prompts;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A method at one task, whose requests and judgements a test answers by hand. Kernels have names,
 * by which prompts are read.
 */
final class Played {
  private static final Task TASK = Bundled.suite("kernelbenchx").find("Activation/tanh").getFirst();
  private static final Pattern NAME = Pattern.compile("return '(\\w+)'");
  private static final Verdict.Device DEVICE =
      new Verdict.Device("cuda", "by hand", null, null, null);

  private final Method method;
  private final Method.Assignment assignment;
  private History history = History.empty();
  private int requests;

  Played(Method method) {
    this.method = method;
    PromptConditions conditions =
        new PromptConditions(
            Shots.ZERO,
            false,
            false,
            Language.TRITON,
            FeedbackKind.EXECUTION,
            dev.kbx.prompt.PromptConditions.History.LAST,
            Format.CHAT,
            Grade.PUBLISHED,
            Policy.KERNEL,
            ModulePrecision.FP32);
    PromptWriter writer =
        new PromptWriter(Prompts.bundled(Path.of("")), conditions, DEVICE, MeasuredPeaks.NONE);
    this.assignment = new Method.Assignment(TASK, writer, null);
  }

  /** A reply with a kernel. */
  static String kernel(String name) {
    return "```python\ndef tanh(input_tensor, out_tensor=None):\n    return '%s'\n```\n"
        .formatted(name);
  }

  static Judgement wrong() {
    return judgement(
        "\"status\":\"wrong_values\",\"stage\":\"correct\",\"call_ok\":true,\"exe_ok\":false");
  }

  /** Correct, and so many times as fast as the reference. */
  static Judgement correct(double speedup, double low) {
    return judgement(
        """
        "status":"correct","stage":"perf","call_ok":true,"exe_ok":true,
        "speedup":{"value":%s,"low":%s,"high":%s,"baseline":"eager"}
        """
            .formatted(speedup, low, 2 * speedup - low));
  }

  private static Judgement judgement(String members) {
    String rest = ",\"flags\":[],\"device\":{\"kind\":\"cuda\",\"name\":\"by hand\"}";
    return Json.mapper()
        .readValue("{" + members + rest + ",\"versions\":{},\"seconds\":{}}", Judgement.class);
  }

  private Next.Work work() {
    Next next = method.next(assignment, history);
    assertThat(next).isInstanceOf(Next.Work.class);
    return (Next.Work) next;
  }

  /** The open requests. */
  List<String> asks() {
    return work().asks().stream().map(Next.Ask::id).toList();
  }

  /** The requests whose kernels are to be judged. */
  List<String> trials() {
    return work().trials().stream().map(Next.Trial::ask).toList();
  }

  Next.Ask ask(String id) {
    return work().asks().stream().filter(ask -> ask.id().equals(id)).findFirst().orElseThrow();
  }

  /** The last message of an open request. */
  String prompt(String id) {
    List<Message> messages = ask(id).messages();
    return messages.getLast().text();
  }

  /** The names of the kernels in an open request, as they stand there. */
  List<String> shown(String id) {
    return NAME.matcher(prompt(id)).results().map((MatchResult found) -> found.group(1)).toList();
  }

  /** Answers an open request. */
  void reply(String id, String text) {
    Next.Ask ask = ask(id);
    requests++;
    add(new Event.Reply(id, "", "m", "m", text, null, "stop", null, null, 0, 1, null, false));
    if (!ask.code()) return;
    Extraction found = Extraction.of(text, TASK);
    add(new Event.Extraction(id, found.rule(), found.found() ? found.code() : null));
  }

  /** Answers an open judgement. */
  void judge(String id, Judgement judgement) {
    assertThat(trials()).contains(id);
    add(new Event.Judged(id, judgement, 0));
  }

  private void add(Event event) {
    history = history.with(event);
  }

  /** Requests answered so far. */
  int requests() {
    return requests;
  }

  Next.Answer answer() {
    Next next = method.next(assignment, history);
    assertThat(next).isInstanceOf(Next.Done.class);
    return ((Next.Done) next).answer();
  }
}
