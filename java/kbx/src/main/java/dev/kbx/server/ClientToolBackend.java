package dev.kbx.server;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Home;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Extraction;
import dev.kbx.candidate.Source;
import dev.kbx.error.EnvironmentException;
import dev.kbx.error.InputException;
import dev.kbx.error.KbxException;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.mcp.ToolBackend;
import dev.kbx.prompt.Statement;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.store.RunStore;
import dev.kbx.store.Submission;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tools as a client of the server may use them: by its scopes, and its place in the queue. */
final class ClientToolBackend implements ToolBackend {
  /** As long as a client waits for a tool; then it gets an id to ask by. */
  private static final Duration MOST_WAIT = Duration.ofSeconds(50);

  private static final String NAME = "mcp";

  private final Client client;
  private final JudgingService judging;
  private final RunStore reads;
  private final Machine machine;
  private final JudgementView view;

  ClientToolBackend(Client client, JudgingService judging, RunStore reads, Machine machine) {
    this.client = client;
    this.judging = judging;
    this.reads = reads;
    this.machine = machine;
    this.view = new JudgementView(judging, reads.service());
  }

  @Override
  public void need(Scope scope) {
    Client.Scope needed =
        switch (scope) {
          case SUBMIT -> Client.Scope.SUBMIT;
          case READ -> Client.Scope.READ;
          case ADMIN -> Client.Scope.ADMIN;
        };
    if (!client.may(needed)) throw told(Access.lacks(client.name(), needed));
  }

  private static InputException told(Refusal refusal) {
    return new InputException(String.valueOf(refusal.getMessage()), refusal);
  }

  @Override
  public List<Suite> suites() {
    return List.copyOf(machine.suites().values());
  }

  @Override
  public Statement statement() {
    return machine.statement();
  }

  /** Without a process for each request. */
  @Override
  public SyntaxCheck syntax() {
    return SyntaxCheck.PARSER;
  }

  @Override
  public List<JudgingDevice> devices() {
    return machine.devices();
  }

  @Override
  public RunStore store() {
    return reads;
  }

  @Override
  public Optional<Path> python() {
    return PythonEnvironment.present(Optional.empty(), System.getenv(), Home.here().folder());
  }

  @Override
  public Judged judge(Kernel kernel) throws InterruptedException {
    Task task = kernel.task();
    if (task == null) {
      throw new InputException(
          "reference: a server judges by tasks of its suites alone; kbx mcp on your own machine"
              + " takes one");
    }
    Source.Text source = Extraction.source(kernel.source(), task);
    Candidate candidate = new Candidate(task, source, NAME, 0, null, null, null, Map.of());
    String plan = "{\"grade\":\"%s\"}".formatted(kernel.grade().label());
    Submission accepted;
    try {
      accepted =
          judging
              .accept(
                  new Acceptance.Order(
                      client.name(),
                      NAME,
                      Plans.of(Json.mapper().readTree(plan), machine.secret()),
                      0,
                      null),
                  List.of(new Acceptance.Wanted(candidate, null, "")))
              .getFirst();
    } catch (Refusal e) {
      throw told(e);
    }
    judging.await(List.of(accepted.id()), MOST_WAIT);
    Submission now = view.now(List.of(accepted)).getFirst();
    Verdict verdict = verdict(now);
    return new Judged(verdict == null ? now.id() : place(now), task, source.code(), verdict, null);
  }

  /** Null while it waits. */
  private @Nullable Verdict verdict(Submission submission) {
    return switch (submission.state()) {
      case QUEUED -> null;
      case DONE -> reads.verdict(submission.run(), requireNonNull(submission.outcome().position()));
      case CANCELLED, EXPIRED, FAILED ->
          throw new InputException(
              "%s: %s"
                  .formatted(
                      submission.id(),
                      Objects.requireNonNullElse(
                          submission.outcome().message(), "was not judged")));
    };
  }

  private static String place(Submission done) {
    return done.run() + "/" + done.outcome().position();
  }

  @Override
  public String verdictId(String id) throws InterruptedException {
    if (id.contains("/")) return id;
    judging.await(List.of(id), MOST_WAIT);
    Submission found =
        view.find(id)
            .orElseThrow(
                () -> new InputException("id: no judgement '%s'".formatted(Plans.cut(id))));
    if (found.isTurn()) {
      throw new InputException(
          "id: %s is a turn of a session; GET /v1/sessions/%s has what was found in it"
              .formatted(found.id(), found.session()));
    }
    if (verdict(found) == null) {
      throw new InputException("id: %s is not judged yet; ask again".formatted(found.id()));
    }
    return place(found);
  }

  /** What the store or the workers say of themselves is for the log. */
  @Override
  public String told(KbxException error) {
    return switch (error) {
      case InputException input -> String.valueOf(input.getMessage());
      case EnvironmentException _ -> "the server cannot do that now; try again";
    };
  }
}
