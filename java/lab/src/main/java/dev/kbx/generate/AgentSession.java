package dev.kbx.generate;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.generate.Program.ProgramFailure;
import dev.kbx.method.Event;
import dev.kbx.method.Method;
import dev.kbx.method.Next.Consultation;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.method.ProgramAnswer.Candidate;
import dev.kbx.method.ProgramAnswer.Done;
import dev.kbx.method.ProgramAnswers;
import dev.kbx.verdict.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The sandboxed program of one trajectory. Its drafts to judge and its last file are the answers of
 * an external program; what it asks its model is in the ledger beside them. A program that was
 * interrupted cannot be told what happened: it is started anew in a workspace of its own, with the
 * judgements that are left.
 */
final class AgentSession implements Consultant {
  /** Id of the answer. */
  static final String FINAL = "final";

  private static final String WORK = "/tmp/agent/work/";
  private static final String HOME = "/tmp/agent/home/";
  private static final String ANSWER = "solution.py";

  /** Beyond the program's own time, for what the sandbox does before and after. */
  private static final Duration GRACE = Duration.ofMinutes(2);

  private final PreparedMethod.ProgramCommand command;
  private final PreparedMethod.Cage cage;
  private final Unit unit;
  private final PreparedMethod prepared;
  private final Method.Assignment assignment;
  private final Trajectory.Context context;
  private final Supplier<Accounts.Wall> wall;
  private final AgentGate gate;
  private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
  private final BlockingQueue<JsonNode> said = new LinkedBlockingQueue<>();

  /** Ids of what was judged, by code. */
  private final Map<String, String> judged = new HashMap<>();

  private @Nullable Process process;
  private @Nullable BufferedWriter answers;

  /** The request for a judgement that is being made; null if there is none. */
  private @Nullable JsonNode open;

  /** The last line that the sandbox's process wrote to stderr, after a colon. */
  private volatile String complaint = "";

  private int judgements;
  private double began;

  AgentSession(
      PreparedMethod.ProgramCommand command,
      PreparedMethod.Cage cage,
      Unit unit,
      PreparedMethod prepared,
      Method.Assignment assignment,
      Trajectory.Context context,
      Supplier<Accounts.Wall> wall) {
    this.command = command;
    this.cage = cage;
    this.unit = unit;
    this.prepared = prepared;
    this.assignment = assignment;
    this.context = context;
    this.wall = wall;
    this.gate = new AgentGate(cage.gateway(), unit, prepared, context, wall);
  }

  @Override
  public ProgramAnswer answer(Consultation consultation)
      throws ProgramFailure, InterruptedException {
    for (Consultation.Turn turn : consultation.past()) {
      for (Candidate each : turn.answer().judge()) judged.put(each.code(), each.id());
    }
    if (judged.containsValue(FINAL)) return done(FINAL);
    judgements = consultation.past().stream().mapToInt(turn -> turn.answer().judge().size()).sum();
    if (process == null) start(consultation.past().size());
    else deliver(consultation.news());
    while (true) {
      JsonNode line = next();
      switch (line.path("event").asString("")) {
        case "request" -> {
          String code = line.path("body").asString("");
          Optional<String> refused = refused(code);
          if (refused.isPresent()) {
            reply(line, 429, refused.get(), false);
            continue;
          }
          open = line;
          return judge("turn-" + consultation.past().size(), code);
        }
        case "ended" -> {
          return ended(line);
        }
        case "refused" ->
            throw new ProgramFailure(
                "cannot be shut in on this machine: " + line.path("what").asString(""));
        case "gone" ->
            throw new ProgramFailure(
                "the sandbox has ended before the program" + line.path("what").asString(""));
        default -> {} // "started"
      }
    }
  }

  private static ProgramAnswer judge(String id, String code) {
    return new ProgramAnswer(List.of(), List.of(new Candidate(id, code)), null, null);
  }

  private static ProgramAnswer done(@Nullable String id) {
    return new ProgramAnswer(List.of(), List.of(), new Done(id), null);
  }

  /** Why no further judgement is made; empty if one is. */
  private Optional<String> refused(String code) {
    if (code.length() > ProgramAnswers.LONGEST_CODE) return Optional.of("it has more than 1 MiB");
    int most = prepared.settings().options().turns();
    if (judgements >= most) return Optional.of("all %d judgements are used".formatted(most));
    return context
        .accounts()
        .refusesTrial(unit, prepared.settings(), wall.get())
        .map("the budget is used: "::concat);
  }

  /** Tells the program what came of its draft. */
  private void deliver(List<String> news) {
    JsonNode request = open;
    open = null;
    if (request == null) return;
    for (String line : news) {
      JsonNode event = Json.mapper().readTree(line);
      if (!event.path("event").asString("").equals("judgement")) continue;
      int left = prepared.settings().options().turns() - judgements;
      StringBuilder text = new StringBuilder(event.path("status").asString(""));
      if (event.has("speedup")) text.append("\nspeedup: ").append(event.get("speedup"));
      if (event.has("feedback")) text.append("\n\n").append(event.get("feedback").asString());
      text.append("\n\nJudgements left: ").append(left);
      reply(request, 200, text.toString(), event.path("correct").asBoolean(false));
    }
  }

  private void reply(JsonNode request, int status, String text, boolean correct) {
    ObjectNode answer = Json.mapper().createObjectNode();
    answer.set("id", request.get("id"));
    answer.put("status", status).put("body", text);
    answer.putObject("headers").put("X-Kbx-Correct", correct ? "true" : "false");
    tell(answer);
  }

  private ProgramAnswer ended(JsonNode line) throws ProgramFailure {
    Event.AgentEnded event = event(line);
    context.add(unit, event, true);
    String code = line.path("solution").asString("");
    if (!code.isBlank()) {
      String known = judged.get(code);
      return known == null ? judge(FINAL, code) : done(known);
    }
    if (event.stopped() == null && Integer.valueOf(0).equals(event.status())) return done(null);
    String last = event.output().strip().lines().reduce("", (_, each) -> each);
    throw new ProgramFailure(
        "%s and left no %s%s"
            .formatted(
                event.stopped() == null ? "ended with status " + event.status() : event.stopped(),
                ANSWER,
                last.isEmpty() ? "" : ": " + last));
  }

  private Event.AgentEnded event(JsonNode line) {
    Map<String, String> files = new HashMap<>();
    for (String name : line.path("files").propertyNames()) {
      files.put(name, command.redact().apply(line.path("files").path(name).asString("")));
    }
    JsonNode refused = line.path("refused");
    for (String what : refused.propertyNames()) gate.refuse(what, refused.path(what).asInt());
    return new Event.AgentEnded(
        line.has("status") ? Integer.valueOf(line.path("status").asInt()) : null,
        line.has("stopped") ? line.path("stopped").asString() : null,
        wall.get().session() - began,
        command.redact().apply(line.path("output").asString("")),
        line.path("dropped").asLong(0),
        files,
        line.path("left_out").asInt(0),
        gate.refused());
  }

  // ---------------------------------------------------------------- the sandbox

  private void start(int turns) throws ProgramFailure {
    began = wall.get().session();
    try {
      ProcessBuilder builder = new ProcessBuilder(cage.launcher());
      builder.environment().keySet().retainAll(List.of("PATH", "LANG", "LC_ALL"));
      Process started = builder.start();
      process = started;
      answers = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), UTF_8));
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
      var _ = Thread.ofVirtual().start(() -> read(lines));
      var _ = Thread.ofVirtual().start(() -> readErrors(started.errorReader(UTF_8)));
    } catch (IOException e) {
      throw new ProgramFailure("the sandbox cannot be started: " + e.getMessage());
    }
    tell(order(turns));
  }

  private ObjectNode order(int turns) {
    ObjectNode order = Json.mapper().createObjectNode();
    Map<String, String> environment = new HashMap<>(gate.environment());
    environment.putAll(cage.environment());
    environment.put("HOME", "/tmp/agent/home");
    environment.put("PATH", String.join(":", cage.path()));
    environment.put("LANG", "C.UTF-8");
    Map<String, Object> files = new HashMap<>();
    Map<String, Object> modes = new HashMap<>();
    files.put(WORK + "TASK.md", task(turns));
    files.put(WORK + ANSWER, "");
    cage.settings().forEach((path, text) -> files.put(HOME + path, text));
    cage.tools()
        .forEach((name, text) -> {
          files.put("/tmp/agent/bin/" + name, text);
          modes.put("/tmp/agent/bin/" + name, 0755);
        });
    Map<String, Object> values = new HashMap<>();
    values.put("words", command.words());
    values.put("environment", environment);
    values.put("files", files);
    values.put("modes", modes);
    values.put("visible", cage.visible());
    values.put("hidden", cage.hidden());
    values.put("uid", cage.uid());
    values.put("seconds", seconds());
    values.put("memory_bytes", cage.memoryBytes());
    values.put("file_bytes", cage.fileBytes());
    values.put("processes", cage.processes());
    values.forEach((name, value) -> order.set(name, Json.mapper().valueToTree(value)));
    return order;
  }

  /** How long the program may run. */
  private long seconds() {
    Double budget = prepared.settings().perTask().wallSeconds();
    long most = command.timeout().toSeconds();
    return budget == null ? most : Math.max(1, Math.min(most, (long) Math.ceil(budget)));
  }

  private String task(int turns) {
    Map<String, Object> values = new HashMap<>();
    values.put("judgements", Math.max(0, prepared.settings().options().turns() - turns));
    values.put("minutes", Math.max(1, seconds() / 60));
    if (assignment.start() != null) values.put("start", assignment.start());
    return assignment.writer().of("agent/task", assignment.task(), values).getLast().text();
  }

  /** Requests to judge and the end go to the trajectory; the gate answers all others. */
  private void read(BufferedReader lines) {
    try (lines) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode node = Json.mapper().readTree(line);
        if (!node.path("event").asString("").equals("request") || AgentGate.isJudgement(node)) {
          said.add(node);
        } else {
          var _ = requests.submit(() -> gate.answer(node).ifPresent(this::tell));
        }
      }
    } catch (IOException | RuntimeException e) {
      // The sandbox is gone, or not what it was: as its end.
    } finally {
      said.add(Json.mapper().createObjectNode().put("event", "gone").put("what", complaint));
    }
  }

  private void readErrors(BufferedReader lines) {
    try (lines) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isBlank()) complaint = ": " + command.redact().apply(line.strip());
      }
    } catch (IOException e) {
      // It has ended.
    }
  }

  private JsonNode next() throws ProgramFailure, InterruptedException {
    Duration most = Duration.ofSeconds(seconds()).plus(GRACE);
    JsonNode line = said.poll(most.toSeconds(), TimeUnit.SECONDS);
    if (line == null) throw new ProgramFailure("the sandbox says nothing");
    return line;
  }

  private synchronized void tell(ObjectNode line) {
    try {
      if (answers == null) return;
      answers.write(Json.mapper().writeValueAsString(line));
      answers.write('\n');
      answers.flush();
    } catch (IOException e) {
      // It has ended; what it said last tells.
    }
  }

  @Override
  public void close() {
    if (process != null) process.destroyForcibly();
    requests.shutdownNow();
    try {
      var _ = requests.awaitTermination(GRACE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
