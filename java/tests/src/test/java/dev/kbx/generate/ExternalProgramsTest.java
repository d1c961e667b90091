package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.check.Rules;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Choice;
import dev.kbx.method.Event;
import dev.kbx.method.History;
import dev.kbx.method.MethodOptions;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
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
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that are methods, as real processes, in single trajectories. */
class ExternalProgramsTest {
  private static final Task TASK = Bundled.suite("kernelbenchx").find("Activation/tanh").getFirst();
  private static final String NEXT = "for line in sys.stdin:\n  if '\"next\"' in line: ";

  @TempDir private Path folder;

  private PreparedMethod method(String python, int turns, Budget budget) throws Exception {
    Path script = folder.resolve("program.py");
    Files.writeString(script, "import json, os, sys, time\n" + python + "\n");
    MethodSettings settings =
        new MethodSettings(
            "external",
            new MethodOptions(
                Algorithm.EXTERNAL, turns, 1, 0, Choice.BEST, false, "python3 program.py"),
            "simulated",
            Parameters.defaults(),
            1,
            Map.of("feedback", "execution"),
            budget,
            Budget.NONE,
            null,
            "prompts");
    PromptWriter writer =
        new PromptWriter(
            Prompts.bundled(Path.of("")),
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
                ModulePrecision.FP32),
            new Verdict.Device("cpu", "simulated", null, null, null),
            MeasuredPeaks.NONE);
    ChatModel model = new Simulated.Model();
    return new PreparedMethod(
        settings,
        settings.options().method().open(settings.options()),
        model,
        Optional.empty(),
        new Semaphore(4),
        writer,
        _ -> Optional.empty(),
        RecordedSpeedups.none(),
        new PreparedMethod.ProgramCommand(
            List.of("python3", script.toString()),
            Duration.ofSeconds(python.contains("time.sleep") ? 3 : 60),
            text -> text.replace("sk-secret", "[key]"),
            _ -> true));
  }

  private Generation.Answered run(PreparedMethod method, History history) throws Exception {
    Unit unit = new Unit("external", TASK.path(), 0);
    Path file = folder.resolve("ledger.jsonl");
    Files.deleteIfExists(file);
    Header header =
        new Header(
            "run", Instant.EPOCH, "s", "*", List.of(method.settings()), null, Map.of(), Map.of());
    Plan plan =
        new Plan(List.of(Stage.values()), Rules.all(), "sm_90", "secret", Limits.defaults());
    try (Ledger ledger = Ledger.create(file, header, InstantSource.system())) {
      Trajectory.Context context =
          new Trajectory.Context(
              ledger,
              new Accounts(),
              new Generation.DevelopmentJudge(new Simulated.Judge(), plan),
              () -> 0.0);
      Trajectory.End end = new Trajectory(unit, TASK, method, history, context).run();
      return ((Trajectory.End.Done) end).answered();
    }
  }

  private Generation.Answered run(String python) throws Exception {
    return run(method(python, 10, Budget.NONE), History.empty());
  }

  private List<Event> events() {
    List<Event> events = new ArrayList<>();
    Header _ = Ledger.read(folder.resolve("ledger.jsonl"), entry -> events.add(entry.event()));
    return events;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`print('hello', flush=True)`            | answer 0 is no JSON: hello",
        "`print('[1]', flush=True)`              | answer 0 is no JSON object: [1]",
        "`print('{}', flush=True)`               | answer 0 has no \"ask\", \"judge\" or \"done\"",
        "`print('{\"don\":{}}', flush=True)`     | answer 0 the line has an unknown \"don\";"
            + " known:",
        "`print('{\"ask\":[{\"id\":\"a\"}]}', flush=True)` | answer 0 a: has no messages",
        "`print('{\"judge\":[{\"id\":\"a\",\"code\":\"\"}]}', flush=True)` | a: has no \"code\"",
        "`print('{\"done\":{\"id\":\"x\"}}', flush=True)` | \"done\" names \"x\", which led to no",
        "`print('{\"done\":{},\"usage\":5}', flush=True)` | answer 0 \"usage\" is not an object",
        "`print('{\"done\":{},\"usage\":{\"input\":1e30}}', flush=True)` | has a \"input\" that is"
            + " not a whole number from 0",
        "`print('{\"done\":{},\"usage\":{\"calls\":1' + '0' * 400 + '}}', flush=True)` | has a"
            + " \"calls\" that is not a whole number from 0",
        "`print('{\"done\":{},\"usage\":{\"calls\":0.5}}', flush=True)` | has a \"calls\" that is"
            + " not a whole number from 0",
        "`print('{\"ask\":[{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"text\":\"hi\"}],\"temperature\":-1}]}',"
            + " flush=True)` | answer 0 a: \"temperature\" is not a number from 0",
        "`[print('x') for _ in range(10**8)]`    | answer 0 is no JSON: x",
        "`sys.exit(0)`                           | ended with status 0",
        "`print('no GPU', file=sys.stderr) or sys.exit(3)` | ended with status 3: no GPU",
        "`raise ValueError('sk-secret')`         | ended with status 1: ValueError: [key]",
        "`os.kill(os.getpid(), 9)`               | ended with status 137",
        "`time.sleep(60)`                        | said nothing for 3 s after answer 0",
        "`print('x' * (17 << 20), flush=True)`   | answer 0 is longer than 16 MiB",
      })
  void failingProgramEndsItsTrajectory(String action, String why) throws Exception {
    Generation.Answered answered = run(NEXT + action);
    assertThat(answered.answer().code()).isNull();
    assertThat(answered.answer().why()).startsWith("no reply, the program failed: ").contains(why);
    assertThat(answered.answer().why()).doesNotContain("\n").hasSizeLessThan(400);
    assertThat(events().getFirst())
        .isInstanceOfSatisfying(
            Event.ProgramFailed.class, failed -> assertThat(failed.what()).contains(why));
  }

  @Test
  void programThatReadsNothingTimesOut() throws Exception {
    assertThat(run("time.sleep(60)").answer().why()).contains("said nothing for 3 s");
  }

  @Test
  void programSubmitsKernelsAndReportsTheirCost() throws Exception {
    Generation.Answered answered =
        run(
            """
            told, turn = [], 0
            for line in sys.stdin:
                event = json.loads(line)
                told.append(event)
                if event["event"] != "next":
                    continue
                if turn == 0:
                    codes = [f"def tanh():\\n    return {i}" for i in range(8)]
                    print(json.dumps({
                        "judge": [{"id": f"own-{i}", "code": code} for i, code in enumerate(codes)],
                        "usage": {"calls": 3, "input": 100, "output": 50, "usd": 0.25},
                    }), flush=True)
                else:
                    found = [e for e in told if e["event"] == "judgement"]
                    assert [e["id"] for e in found] == [f"own-{i}" for i in range(8)], found
                    wrong = [e for e in found if not e["correct"]]
                    assert all("3 wrong elements" in e["feedback"] for e in wrong)
                    print(json.dumps({"done": {"id": wrong[0]["id"]}}), flush=True)
                turn += 1
            """);
    assertThat(answered.answer().why()).isEqualTo("chosen by the program");
    assertThat(answered.answer().code()).startsWith("def tanh():");
    assertThat(answered.development()).isNotNull();
    Spent spent = Spent.NOTHING;
    for (Event event : events()) spent = spent.plus(Costs.of(event));
    assertThat(spent.calls()).isEqualTo(3);
    assertThat(spent.reported()).isEqualTo(3);
    assertThat(spent.tokens()).isEqualTo(150);
    assertThat(spent.usd()).isEqualTo(0.25);
  }

  /** It is told each judgement, whatever it asks next. */
  @Test
  void aKernelOfAProgramFollowsTheLastJudgement() throws Exception {
    Generation.Answered _ =
        run(
            """
            turn = 0
            for line in sys.stdin:
                if json.loads(line)["event"] != "next":
                    continue
                own = [{"id": f"own-{turn}", "code": f"def tanh():\\n    return {turn}"}]
                print(json.dumps({"done": {}} if turn == 3 else {"judge": own}), flush=True)
                turn += 1
            """);
    assertThat(Transcript.read(folder.resolve("ledger.jsonl")).trajectories().getFirst().kernels())
        .extracting(Transcript.Kernel::told)
        .containsExactly(List.of(), List.of("own-0"), List.of("own-1"));
  }

  @Test
  void aProgramChoosesTheTemperature() throws Exception {
    var _ =
        run(
            """
            turn = 0
            for line in sys.stdin:
                if '"next"' in line:
                    hi = [{"role": "user", "text": "hi"}]
                    wants = [{"ask": [{"id": "a", "messages": hi, "temperature": 0.25}]}, {"done": {}}]
                    print(json.dumps(wants[turn]), flush=True)
                    turn += 1
            """);
    assertThat(events())
        .filteredOn(Event.Prompt.class::isInstance)
        .extracting(event -> ((Event.Prompt) event).parameters().temperature())
        .containsExactly(0.25);
  }

  @Test
  void requestsReportedByAProgramCountForBudgets() throws Exception {
    String spending =
        """
        n = 0
        for line in sys.stdin:
            if '"next"' in line:
                n += 1
                print(json.dumps({"judge": [{"id": f"k{n}", "code": f"x = {n}"}],
                                  "usage": {"calls": 2, "usd": 0.5}}), flush=True)
        """;
    Budget calls = new Budget(3L, null, null, null, null, null);
    assertThat(run(method(spending, 10, calls), History.empty()).answer().why())
        .endsWith(", within 3 calls");
    assertThat(events().stream().filter(Event.Program.class::isInstance)).hasSize(2);
    Budget usd = new Budget(null, null, null, 1.2, null, null);
    assertThat(run(method(spending, 10, usd), History.empty()).answer().why())
        .endsWith(", within 1.2 USD");
    assertThat(events().stream().filter(Event.Program.class::isInstance)).hasSize(3);
  }

  @Test
  void endlessProgramIsEndedAtItsTurnLimit() throws Exception {
    String endless =
        """
        n = 0
        for line in sys.stdin:
            if '"next"' in line:
                n += 1
                print(json.dumps({"judge": [{"id": f"k{n}", "code": f"x = {n}"}]}), flush=True)
        """;
    assertThat(run(method(endless, 3, Budget.NONE), History.empty()).answer().why())
        .endsWith(", after 3 answers");
    Budget two = new Budget(2L, null, null, null, null, null);
    String asking =
        endless
            .replace("\"judge\"", "\"ask\"")
            .replace(
                "\"code\": f\"x = {n}\"", "\"messages\": [{\"role\": \"user\", \"text\": \"hi\"}]");
    assertThat(run(method(asking, 10, two), History.empty()).answer().why())
        .endsWith(", within 2 calls");
  }

  @Test
  void programThatAnswersDifferentlyOnResumeIsRefused() throws Exception {
    String random =
        """
        for line in sys.stdin:
            if '"next"' in line:
                code = f"x = {time.time_ns()}"
                print(json.dumps({"judge": [{"id": f"k{time.time_ns()}", "code": code}]}), flush=True)
        """;
    var _ = run(method(random, 2, Budget.NONE), History.empty());
    History interrupted = History.empty();
    for (Event event : events()) {
      if (event instanceof Event.Program(int turn, _) && turn > 0) break;
      interrupted = interrupted.with(event);
    }
    Generation.Answered answered = run(method(random, 2, Budget.NONE), interrupted);
    assertThat(answered.answer().why())
        .contains("the program failed: answer 0 differs from that before the run was interrupted");
    assertThat(answered.answer().code()).startsWith("x = "); // What is there is kept.
  }

  @Test
  void programThatAnswersTheSameIsResumed() throws Exception {
    String steady =
        """
        n = 0
        for line in sys.stdin:
            if '"next"' in line:
                n += 1
                wants = {"judge": [{"id": f"k{n}", "code": f"x = {n}"}]} if n < 3 else {"done": {}}
                print(json.dumps(wants), flush=True)
        """;
    Generation.Answered whole = run(steady);
    List<Event> all = events();
    for (int cut = 0; cut < all.size() - 1; cut++) {
      History history = History.empty();
      for (Event event : all.subList(0, cut)) history = history.with(event);
      assertThat(run(method(steady, 10, Budget.NONE), history)).isEqualTo(whole);
    }
  }
}
