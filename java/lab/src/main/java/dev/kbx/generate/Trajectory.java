package dev.kbx.generate;

import dev.kbx.candidate.Extraction;
import dev.kbx.generate.Program.ProgramFailure;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelFailure;
import dev.kbx.method.Event;
import dev.kbx.method.History;
import dev.kbx.method.History.Outcome;
import dev.kbx.method.Method;
import dev.kbx.method.Next;
import dev.kbx.prompt.PromptWriter.Turn;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One method at one task for one sample: does what the method wants, one thread for each open step,
 * until it has an answer. Events are in the ledger before the method sees them.
 */
final class Trajectory {
  private final Unit unit;
  private final Task task;
  private final PreparedMethod prepared;
  private final Method.Assignment assignment;
  private final Context context;
  private final double began;
  private final @Nullable Consultant program;
  private final BlockingQueue<Step> ended = new LinkedBlockingQueue<>();
  private final Set<String> begun = new HashSet<>();
  private final Set<Thread> threads = new HashSet<>();
  private History history;

  /** Why the trajectory stays open; null while it goes on. Other threads read it. */
  private volatile @Nullable ModelFailure postponed;

  /** Why the run cannot go on; null while it can. Other threads read it. */
  private volatile @Nullable Throwable failed;

  /** Steps begun and not awaited. */
  private int open;

  /** What all trajectories of a run share. */
  record Context(Ledger ledger, Accounts accounts, Generation.DevelopmentJudge judge, Clock clock) {
    /** Adds an event to the ledger and the accounts. */
    void add(Unit unit, Event event, boolean durably) {
      if (durably) ledger.appendDurably(unit, event);
      else ledger.append(unit, event);
      accounts.add(unit, event);
    }
  }

  /** Seconds since the session began. */
  interface Clock {
    double seconds();
  }

  /** How a step ended. */
  private sealed interface Step {
    /** The step led to events, which are in the ledger. */
    record Happened(List<Event> events) implements Step {}

    /** A request may succeed later: the trajectory stays open. */
    record Postponed(ModelFailure why) implements Step {}

    /** The run cannot go on. */
    record Failed(Throwable why) implements Step {}
  }

  /** How a trajectory ended. */
  sealed interface End {
    /** With an answer. */
    record Done(Generation.Answered answered) implements End {}

    /** A request may succeed later. */
    record Open(ModelFailure why) implements End {}
  }

  Trajectory(Unit unit, Task task, PreparedMethod prepared, History history, Context context) {
    this.unit = unit;
    this.task = task;
    this.prepared = prepared;
    this.assignment = prepared.assignment(task);
    this.history = history;
    this.context = context;
    this.began = context.clock().seconds();
    this.program = consultant();
  }

  private @Nullable Consultant consultant() {
    PreparedMethod.ProgramCommand command = prepared.program();
    if (command == null) return null;
    if (command.cage() != null) {
      return new AgentSession(
          command, command.cage(), unit, prepared, assignment, context, this::wall);
    }
    return new Program(command, ProgramAssignment.line(unit, prepared.settings(), assignment));
  }

  /**
   * Runs until there is an answer. Failures of the referee and the ledger are thrown as they are.
   */
  End run() throws InterruptedException {
    try {
      while (true) {
        Next next = next();
        if (next instanceof Next.Work work) begin(work);
        if (open == 0) {
          if (next instanceof Next.Done(Next.Answer answer)) return answered(answer);
          throw new IllegalStateException(unit + ": the method wants nothing and has no answer");
        }
        await();
        if (failed == null && postponed == null) continue;
        while (open > 0) await();
        if (failed != null) throw unchecked(failed);
        return new End.Open(Objects.requireNonNull(postponed));
      }
    } finally {
      threads.forEach(Thread::interrupt);
      for (Thread thread : threads) thread.join();
      if (program != null) program.close();
    }
  }

  /**
   * What is in flight is waited for even if the answer is known, the trajectory stays open, or a
   * step failed: it has been paid.
   */
  private Next next() {
    if (history.end() == null) return prepared.method().next(assignment, history);
    Next.Answer answer = prepared.method().answer(assignment, history);
    return new Next.Done(
        new Next.Answer(
            answer.ask(), answer.code(), "%s, %s".formatted(answer.why(), history.end())));
  }

  private End answered(Next.Answer answer) {
    context.add(unit, new Event.Selection(answer.ask(), answer.why()), true);
    return new End.Done(Generation.Answered.of(answer, history));
  }

  /** Waits for one step. */
  private void await() throws InterruptedException {
    Step step = ended.take();
    open--;
    switch (step) {
      case Step.Happened(List<Event> events) -> {
        for (Event event : events) history = history.with(event);
      }
      case Step.Postponed(ModelFailure why) -> {
        if (postponed == null) postponed = why;
      }
      case Step.Failed(InterruptedException interrupt) -> throw interrupt;
      case Step.Failed(Throwable why) -> {
        if (failed == null) failed = why;
      }
    }
  }

  private static RuntimeException unchecked(Throwable why) {
    return switch (why) {
      case Error error -> throw error;
      case RuntimeException exception -> exception;
      default -> new IllegalStateException(why);
    };
  }

  private void begin(Next.Work work) {
    for (Next.Ask ask : work.asks()) {
      if (begun.add("ask " + ask.id())) start(() -> ask(ask));
    }
    for (Next.Trial trial : work.trials()) {
      if (begun.add("trial " + trial.ask())) start(() -> judge(trial));
    }
    Next.Consultation consultation = work.consultation();
    if (consultation == null || program == null) return;
    Consultant asked = program;
    int turn = consultation.past().size();
    if (begun.add("answer " + turn)) start(() -> consulted(asked, turn, consultation));
  }

  private interface Making {
    Step step() throws InterruptedException;
  }

  private void start(Making making) {
    open++;
    threads.removeIf(thread -> !thread.isAlive());
    threads.add(
        Thread.ofVirtual()
            .start(() -> {
              Step step;
              try {
                step = making.step();
              } catch (InterruptedException | RuntimeException | Error e) {
                step = new Step.Failed(e);
              }
              ended.add(step);
            }));
  }

  // ---------------------------------------------------------------- requests

  private Step ask(Next.Ask ask) throws InterruptedException {
    Optional<Outcome> known = history.of(ask.id());
    if (known.isPresent() && known.get().text() != null) {
      // kbx was killed between the reply and the extraction.
      return new Step.Happened(extracted(ask, known.get().text()));
    }
    prepared.requests().acquire();
    try {
      ModelFailure other = postponed;
      if (other != null) return new Step.Postponed(other);
      if (failed != null) return new Step.Happened(List.of());
      Optional<String> cap = context.accounts().reserve(unit, prepared.settings(), wall());
      return cap.isPresent() ? capped(cap.get()) : sent(ask);
    } finally {
      prepared.requests().release();
    }
  }

  private Step sent(Next.Ask ask) throws InterruptedException {
    ChatRequest request =
        new ChatRequest(
            prepared.settings().model(),
            parameters(ask),
            ask.messages(),
            unit.sample() + ask.repeat() * prepared.settings().samples(),
            ChatRequest.place(unit.method(), unit.task(), unit.sample(), ask.id()),
            asksAgain() ? ask.stable() : 0);
    String key = request.key();
    for (String about : ask.about()) context.add(unit, new Event.Feedback(ask.id(), about), false);
    context.add(
        unit,
        new Event.Prompt(
            ask.id(),
            key,
            request.model(),
            request.parameters(),
            request.messages(),
            ask.templates()),
        true);
    AtomicReference<@Nullable String> refused = new AtomicReference<>();
    try {
      ChatReply reply = prepared.model().ask(request, () -> again(refused));
      Event.Reply event =
          new Event.Reply(
              ask.id(),
              key,
              reply.servedModel(),
              request.model(),
              reply.text(),
              reply.thinking(),
              reply.finish(),
              reply.usage(),
              usd(reply.usage()),
              reply.seconds(),
              reply.attempts(),
              reply.unmetered(),
              reply.cached());
      context.add(unit, event, true);
      List<Event> events = new ArrayList<>(List.of(event));
      events.addAll(extracted(ask, reply.text()));
      return new Step.Happened(events);
    } catch (ModelFailure e) {
      Event.NoReply event =
          new Event.NoReply(
              ask.id(),
              e.kind(),
              String.valueOf(e.getMessage()),
              e.charged(),
              usd(e.charged()),
              e.seconds(),
              e.attempts(),
              e.unmetered());
      context.add(unit, event, true);
      if (refused.get() != null) return capped(refused.get());
      return event.isFinal() ? new Step.Happened(List.of(event)) : new Step.Postponed(e);
    }
  }

  /** Whether other requests begin as this one does: to keep what is asked once only costs more. */
  private boolean asksAgain() {
    return prepared.method().mostCalls() > 1 || prepared.settings().samples() > 1;
  }

  private Parameters parameters(Next.Ask ask) {
    Parameters usual = prepared.settings().parameters();
    // A model may take none: only a program asks for one where the run has none.
    boolean taken = usual.temperature() != null || program != null;
    if (ask.temperature() == null || !taken) return usual;
    return new Parameters(
        ask.temperature(), usual.topP(), usual.maxTokens(), usual.reasoningEffort(), usual.seed());
  }

  /** USD; null if price or tokens are not known. */
  private @Nullable Double usd(@Nullable Usage usage) {
    if (usage == null) return null;
    double usd = prepared.price().map(price -> price.of(usage)).orElse(Double.NaN);
    return Double.isNaN(usd) ? null : usd;
  }

  /** Whether the budget allows to send a request once more. */
  private boolean again(AtomicReference<@Nullable String> refused) {
    Optional<String> cap = context.accounts().reserveAgain(unit, prepared.settings(), wall());
    cap.ifPresent(refused::set);
    return cap.isEmpty();
  }

  private List<Event> extracted(Next.Ask ask, String text) {
    if (!ask.code()) return List.of();
    Extraction found = Extraction.of(text, task);
    Event.Extraction event =
        new Event.Extraction(ask.id(), found.rule(), found.found() ? found.code() : null);
    context.add(unit, event, false);
    prepared
        .speedups()
        .of(unit.task(), ask.id(), event.code())
        .ifPresent(recorded -> context.add(unit, recorded, false));
    return List.of(event);
  }

  private Step capped(String what) {
    Event.Cap event = new Event.Cap(what);
    context.add(unit, event, false);
    return new Step.Happened(List.of(event));
  }

  // ---------------------------------------------------------------- programs

  private Step consulted(Consultant asked, int turn, Next.Consultation consultation)
      throws InterruptedException {
    // An agent at its budget is refused requests and judgements, and its answer is what it has.
    Optional<String> cap =
        asked instanceof Program
            ? context.accounts().refusesAnswer(unit, prepared.settings(), wall())
            : Optional.empty();
    if (cap.isPresent()) return capped(cap.get());
    Event event;
    try {
      event = new Event.Program(turn, asked.answer(consultation));
    } catch (ProgramFailure e) {
      event = new Event.ProgramFailed(e.message());
    }
    context.add(unit, event, true);
    return new Step.Happened(List.of(event));
  }

  // ---------------------------------------------------------------- judgements

  private Step judge(Next.Trial trial) throws InterruptedException {
    Optional<String> cap = context.accounts().refusesTrial(unit, prepared.settings(), wall());
    if (cap.isPresent()) return capped(cap.get());
    Judgement judgement =
        context.judge().judge(unit, task, prepared.settings().model(), trial.code());
    Event.Judged event =
        new Event.Judged(trial.ask(), judgement, Generation.DevelopmentJudge.seconds(judgement));
    context.add(unit, event, false);
    return new Step.Happened(List.of(event));
  }

  private Accounts.Wall wall() {
    double now = context.clock().seconds();
    return new Accounts.Wall(now - began, now);
  }

  /** The first line that the program of an external method is told. */
  static final class ProgramAssignment {
    /** Version of the lines; a change that programs notice raises it. */
    private static final int PROTOCOL = 1;

    private ProgramAssignment() {}

    static String line(Unit unit, MethodSettings settings, Method.Assignment assignment) {
      Task task = assignment.task();
      ObjectNode node = Json.mapper().createObjectNode();
      node.put("event", "assignment").put("protocol", PROTOCOL);
      node.put("suite", task.suite()).put("task", task.path());
      node.put("entry", task.entry()).put("signature", task.signature());
      node.put("sample", unit.sample());
      node.put("model", settings.model());
      node.put("statement", assignment.writer().statementOf(task));
      ArrayNode messages = node.putArray("messages");
      for (Turn turn : assignment.writer().first(task, assignment.start())) {
        messages.addObject().put("role", turn.role()).put("text", turn.text());
      }
      if (assignment.start() != null) node.put("start", assignment.start());
      node.set("conditions", Json.mapper().valueToTree(settings.factors()));
      node.set("budget", Json.mapper().valueToTree(settings.perTask()));
      return Json.mapper().writeValueAsString(node);
    }
  }
}
