package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Bundled;
import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.generate.Ledger.Entry;
import dev.kbx.judge.Referee;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatRequest;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.llm.ModelFailure;
import dev.kbx.llm.Price;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Choice;
import dev.kbx.method.Event;
import dev.kbx.method.MethodOptions;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.prompt.Prompts;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ledgers, resuming and budgets, with a simulated model and referee. */
class GenerationTest {
  private static final List<Task> TASKS =
      Bundled.suite("kernelbenchx").find("Activation/*").stream()
          .filter(task -> !task.extra())
          .toList();
  private static final PromptWriter WRITER =
      new PromptWriter(
          Prompts.bundled(Path.of("")),
          new PromptConditions(
              Shots.ZERO,
              false,
              false,
              Language.TRITON,
              FeedbackKind.EXECUTION,
              History.LAST,
              Format.CHAT,
              Grade.PUBLISHED,
              Policy.KERNEL,
              ModulePrecision.FP32),
          new Verdict.Device("cpu", "simulated", null, null, null),
          MeasuredPeaks.NONE);

  @TempDir private Path folder;
  private final Map<Unit, Generation.Answered> answers = new ConcurrentHashMap<>();
  private final List<Unit> postponed = new ArrayList<>();

  private static MethodSettings settings(String method, int samples, Budget perTask, Budget all) {
    return new MethodSettings(
        method,
        new MethodOptions(
            Algorithm.of(method).orElseThrow(),
            3,
            3,
            2,
            Choice.BEST,
            false,
            method.equals("external") ? "agent" : null),
        "simulated",
        Parameters.defaults(),
        samples,
        Map.of(),
        perTask,
        all,
        null,
        "prompts");
  }

  private static MethodSettings settings(String method, int samples) {
    return settings(method, samples, Budget.NONE, Budget.NONE);
  }

  private static List<Generation.Work> work(List<MethodSettings> methods) {
    List<Generation.Work> work = new ArrayList<>();
    for (Task task : TASKS) {
      for (MethodSettings method : methods) {
        for (int i = 0; i < method.samples(); i++) {
          work.add(new Generation.Work(new Unit(method.name(), task.path(), i), task));
        }
      }
    }
    return work;
  }

  private Spent run(Path file, ChatModel model, List<MethodSettings> methods) throws Exception {
    return run(file, model, methods, RecordedSpeedups.none());
  }

  private Spent run(
      Path file, ChatModel model, List<MethodSettings> methods, RecordedSpeedups speedups)
      throws Exception {
    return run(file, model, methods, speedups, new Simulated.Judge());
  }

  private Spent run(
      Path file,
      ChatModel model,
      List<MethodSettings> methods,
      RecordedSpeedups speedups,
      Referee referee)
      throws Exception {
    boolean begun = Files.exists(file);
    Recorded recorded = begun ? Recorded.read(file) : Recorded.nothing();
    Header header =
        new Header("run", Instant.EPOCH, "suite", "*", methods, null, Map.of(), Map.of());
    InstantSource clock = InstantSource.system();
    Map<String, PreparedMethod> prepared = new HashMap<>();
    for (MethodSettings each : methods) {
      prepared.put(
          each.name(),
          new PreparedMethod(
              each,
              each.options().method().open(each.options()),
              model,
              Optional.of(new Price(1, 2, null, LocalDate.EPOCH)),
              new Semaphore(model.parallel()),
              WRITER,
              _ -> Optional.empty(),
              speedups,
              each.options().program() == null ? null : program()));
    }
    Plan plan =
        new Plan(List.of(Stage.values()), Rules.all(), "sm_90", "secret", Limits.defaults());
    try (Ledger ledger = begun ? Ledger.resume(file, clock) : Ledger.create(file, header, clock)) {
      Generation generation =
          new Generation(
              prepared,
              recorded,
              ledger,
              new Generation.DevelopmentJudge(referee, plan),
              new Generation.Listener() {
                @Override
                public void answered(
                    Unit unit, Task task, Generation.Answered answered, boolean recorded) {
                  answers.put(unit, answered);
                }

                @Override
                public void postponed(Unit unit, ModelFailure why) {
                  synchronized (postponed) {
                    postponed.add(unit);
                  }
                }
              });
      generation.run(work(methods));
      return recorded.spent();
    }
  }

  /** Asks for two things at once and brings a kernel of its own; then asks with what came of it. */
  private PreparedMethod.ProgramCommand program() throws Exception {
    Path script = folder.resolve("agent.py");
    Files.writeString(
        script,
        """
        import json, sys
        told, turn = [], 0
        for line in sys.stdin:
            event = json.loads(line)
            if event["event"] == "assignment":
                start = event["messages"]
                entry = event["entry"]
            elif event["event"] == "next":
                if turn == 0:
                    wants = {
                        "ask": [{"id": "a", "messages": start}, {"id": "b", "messages": start, "kernel": False}],
                        "judge": [{"id": "c", "code": f"def {entry}(): pass"}],
                    }
                elif turn == 1:
                    wants = {"ask": [{"id": "d", "messages": [{"role": "user", "text": json.dumps(told)}]}]}
                else:
                    wants = {"done": {}}
                turn += 1
                print(json.dumps(wants), flush=True)
            else:
                told.append(event)
        """);
    return new PreparedMethod.ProgramCommand(
        List.of("python3", script.toString()), Duration.ofSeconds(60), text -> text, _ -> true);
  }

  /** Every event of a ledger by trajectory, without times, and without what a kill adds. */
  private static Map<Unit, List<String>> events(Path file) {
    Map<Unit, List<String>> events = new HashMap<>();
    Header _ =
        Ledger.read(
            file,
            entry -> {
              if (entry.event() instanceof Event.Lost) return;
              List<String> known = events.computeIfAbsent(entry.unit(), _ -> new ArrayList<>());
              String event = entry.event().toString();
              if (!known.contains(event)) known.add(event); // A prompt sent again.
            });
    return events.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().stream().sorted().toList()));
  }

  /** Where it is killed: in two places, and in five with the property {@code kbx.soak}. */
  static IntStream seeds() {
    return IntStream.rangeClosed(1, Boolean.getBoolean("kbx.soak") ? 5 : 2);
  }

  @ParameterizedTest
  @Tag("soak")
  @MethodSource("seeds")
  void killedRunHasTheSameResultsAsAnUninterruptedRun(int seed) throws Exception {
    List<MethodSettings> methods =
        List.of(
            settings("refine", 1),
            settings("bestof", 1),
            settings("sample", 3),
            settings("geak", 1),
            settings("kernelagent", 1),
            settings("evolve", 1),
            settings("external", 1));
    Path whole = folder.resolve("whole.jsonl");
    Spent undisturbed = run(whole, new Simulated.Model(), methods);
    byte[] all = Files.readAllBytes(whole);
    Map<Unit, Generation.Answered> expected = Map.copyOf(answers);

    // Whatever a kill leaves of the file: a prefix that may end within a line.
    Path killed = folder.resolve("killed.jsonl");
    Random random = new Random(seed);
    int header = 1 + new String(all, java.nio.charset.StandardCharsets.UTF_8).indexOf('\n');
    Files.write(killed, java.util.Arrays.copyOf(all, header + random.nextInt(all.length - header)));
    List<Entry> replies = new ArrayList<>();
    Header _ =
        Ledger.read(
            killed,
            entry -> {
              if (entry.event() instanceof Event.Reply) replies.add(entry);
            });
    answers.clear();
    Simulated.Model model = new Simulated.Model();
    Spent resumed = run(killed, model, methods);

    assertThat(events(killed)).isEqualTo(events(whole));
    assertThat(answers).isEqualTo(expected);
    assertThat(resumed.calls() - resumed.lost()).isEqualTo(undisturbed.calls());
    assertThat(resumed.tokens()).isEqualTo(undisturbed.tokens());
    assertThat(model.asked.get()).isEqualTo((int) undisturbed.calls() - replies.size());
  }

  /** The selections of a ledger by trajectory, byte by byte but for the time. */
  private static List<String> selections(Path file) throws Exception {
    try (var lines = Files.lines(file)) {
      return lines
          .filter(line -> line.contains("\"event\":\"selection\""))
          .map(line -> line.replaceFirst("\"time\":\"[^\"]*\",", ""))
          .sorted()
          .toList();
    }
  }

  @Test
  void replayOfALedgerSelectsTheSameCandidates() throws Exception {
    List<MethodSettings> methods =
        List.of(
            settings("refine", 1),
            settings("bestof", 1),
            settings("sample", 3),
            settings("geak", 1),
            settings("kernelagent", 1),
            settings("evolve", 1));
    Path first = folder.resolve("first.jsonl");
    Spent _ = run(first, new Simulated.Model(), methods);
    Path second = folder.resolve("second.jsonl");
    ModelCatalog catalog =
        ModelCatalog.read(folder.resolve("none.toml"), Map.of(), () -> Path.of(""));
    try (ChatModel replay = catalog.open("replay:" + first)) {
      Spent _ = run(second, replay, methods);
    }
    assertThat(selections(second)).hasSizeGreaterThan(TASKS.size()).isEqualTo(selections(first));
  }

  @Test
  void speedupsOfTheReplayedLedgerAreInformativeOnly() throws Exception {
    List<MethodSettings> methods = List.of(settings("refine", 1));
    Path first = folder.resolve("first.jsonl");
    Spent _ = run(first, new Simulated.Model(), methods);
    RecordedSpeedups speedups = RecordedSpeedups.of(first);
    Path second = folder.resolve("second.jsonl");
    Spent _ = run(second, new Simulated.Model(), methods, speedups);
    assertThat(recorded(second)).isNotEmpty().isEqualTo(timed(first));
    assertThat(selections(second)).isEqualTo(selections(first));
    // A replay of the replay has them, too.
    Path third = folder.resolve("third.jsonl");
    Spent _ = run(third, new Simulated.Model(), methods, RecordedSpeedups.of(second));
    assertThat(recorded(third)).isEqualTo(recorded(second));
  }

  private static Map<String, Double> recorded(Path file) {
    Map<String, Double> found = new HashMap<>();
    Ledger.replay(
        file,
        (unit, event) -> {
          if (event instanceof Event.RecordedSpeedup e) {
            assertThat(e.device()).isEqualTo("simulated");
            found.put(unit + e.ask(), e.speedup().value());
          }
        });
    return found;
  }

  private static Map<String, Double> timed(Path file) {
    Map<String, Double> found = new HashMap<>();
    Ledger.replay(
        file,
        (unit, event) -> {
          if (event instanceof Event.Judged e && e.judgement().speedup() != null) {
            found.put(unit + e.ask(), e.judgement().speedup().value());
          }
        });
    return found;
  }

  @Test
  void aLedgerOfRepliesAloneHasNoSpeedups() throws Exception {
    Path file = folder.resolve("replies.jsonl");
    Files.writeString(file, "{\"event\":\"reply\",\"key\":\"k\",\"text\":\"t\"}\n");
    assertThat(RecordedSpeedups.of(file).of("A/b", "reply", "code")).isEmpty();
  }

  @Test
  void completeRunSendsNoRequests() throws Exception {
    Path file = folder.resolve("ledger.jsonl");
    List<MethodSettings> methods = List.of(settings("refine", 1));
    Spent first = run(file, new Simulated.Model(), methods);
    byte[] before = Files.readAllBytes(file);
    Simulated.Model model = new Simulated.Model();
    assertThat(run(file, model, methods)).isEqualTo(first);
    assertThat(model.asked).hasValue(0);
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
  }

  @Test
  void budgetEndsATrajectoryWithItsBestCandidate() throws Exception {
    Budget two = new Budget(2L, null, null, null, null, null);
    Path file = folder.resolve("ledger.jsonl");
    Spent spent =
        run(file, new Simulated.Model(), List.of(settings("refine", 1, two, Budget.NONE)));
    assertThat(spent.calls()).isEqualTo(2L * TASKS.size());
    assertThat(answers.values())
        .allSatisfy(answered -> assertThat(answered.answer().why()).endsWith("within 2 calls"));
  }

  @Test
  void exhaustedTotalBudgetEndsTrajectoriesNotBegun() throws Exception {
    Budget few = new Budget(5L, null, null, null, null, null);
    Spent spent =
        run(
            folder.resolve("ledger.jsonl"),
            new Simulated.Model(),
            List.of(settings("sample", 1, Budget.NONE, few)));
    assertThat(spent.calls()).isEqualTo(5);
    assertThat(answers).hasSameSizeAs(TASKS);
  }

  @Test
  void tokensAndMoneyAreCounted() throws Exception {
    Spent spent =
        run(folder.resolve("ledger.jsonl"), new Simulated.Model(), List.of(settings("sample", 1)));
    assertThat(spent.tokens()).isEqualTo(150L * TASKS.size());
    assertThat(spent.usd())
        .isEqualTo(TASKS.size() * 200e-6, org.assertj.core.api.Assertions.within(1e-12));
    assertThat(spent.unpriced()).isZero();
  }

  /** Fails the first requests for a reason. */
  private static final class Failing extends Simulated.Model {
    private final ModelFailure.Kind kind;
    private final int failures;

    Failing(ModelFailure.Kind kind, int failures) {
      this.kind = kind;
      this.failures = failures;
    }

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again)
        throws ModelFailure, InterruptedException {
      if (asked.get() < failures) {
        asked.incrementAndGet();
        throw new ModelFailure(kind, "out of order", null, 0, 3, 3);
      }
      return super.ask(request, again);
    }
  }

  @Test
  void anOutageLeavesTrajectoriesOpenUntilTheRunIsResumed() throws Exception {
    Path file = folder.resolve("ledger.jsonl");
    List<MethodSettings> methods = List.of(settings("sample", 1));
    Spent _ = run(file, new Failing(ModelFailure.Kind.UNREACHABLE, 3), methods);
    assertThat(postponed).hasSize(3);
    assertThat(answers).hasSize(TASKS.size() - 3);
    Spent _ = run(file, new Simulated.Model(), methods);
    assertThat(answers).hasSize(TASKS.size());
  }

  /** Fails the first request when all others are in flight, which are answered a moment later. */
  private static final class FailingBeside extends Simulated.Model {
    private final CountDownLatch others;
    private final CountDownLatch failed = new CountDownLatch(1);

    FailingBeside(int requests) {
      others = new CountDownLatch(requests - 1);
    }

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again)
        throws ModelFailure, InterruptedException {
      if (asked.getAndIncrement() == 0) {
        others.await();
        failed.countDown();
        throw new ModelFailure(ModelFailure.Kind.UNREACHABLE, "out of order", null, 0, 3, 3);
      }
      others.countDown();
      failed.await();
      Thread.sleep(100); // The trajectory hears of the failure first.
      return super.ask(request, again);
    }

    @Override
    public int parallel() {
      return 1000;
    }
  }

  @Test
  @Timeout(60)
  void concurrentRepliesAreKeptOnAFailure() throws Exception {
    Path file = folder.resolve("ledger.jsonl");
    List<MethodSettings> methods = List.of(settings("bestof", 1));
    Spent _ = run(file, new FailingBeside(3 * TASKS.size()), methods);
    assertThat(postponed).hasSize(1);
    Spent resumed = run(file, new Simulated.Model(), methods);
    assertThat(resumed.lost()).isZero();
    assertThat(answers).hasSize(TASKS.size());
  }

  /**
   * All requests but the first with a kernel are answered a moment after the referee has failed.
   */
  private static final class SlowBeside extends Simulated.Model {
    private final CountDownLatch failed;
    private final AtomicBoolean first = new AtomicBoolean(true);

    SlowBeside(CountDownLatch failed) {
      this.failed = failed;
    }

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again)
        throws ModelFailure, InterruptedException {
      ChatReply reply = super.ask(request, again);
      if (reply.text().contains("def ") && first.getAndSet(false)) return reply;
      failed.await();
      Thread.sleep(50); // The trajectory hears of the failure first.
      return reply;
    }

    @Override
    public int parallel() {
      return 1000;
    }
  }

  @Test
  @Timeout(60)
  void concurrentRepliesAreKeptOnARefereeFailure() throws Exception {
    Path file = folder.resolve("ledger.jsonl");
    List<MethodSettings> methods = List.of(settings("bestof", 1));
    CountDownLatch failed = new CountDownLatch(1);
    Referee broken =
        new Simulated.Judge() {
          @Override
          public Judgement judge(Candidate candidate, Plan plan) {
            failed.countDown();
            throw new IllegalStateException("the referee is broken");
          }
        };
    SlowBeside model = new SlowBeside(failed);
    assertThatThrownBy(() -> run(file, model, methods, RecordedSpeedups.none(), broken))
        .hasMessage("the referee is broken");
    Spent resumed = run(file, new Simulated.Model(), methods);
    assertThat(resumed.lost()).isZero();
    assertThat(answers).hasSize(TASKS.size());
  }

  @Test
  void aRefusedKeyEndsTheRunAtOnce() {
    Failing model = new Failing(ModelFailure.Kind.AUTHENTICATION, 1000);
    assertThatThrownBy(
            () -> run(folder.resolve("ledger.jsonl"), model, List.of(settings("sample", 9))))
        .isInstanceOf(Generation.Outage.class)
        .hasMessage("out of order");
    assertThat(model.asked.get()).isLessThan(20);
  }

  @Test
  void aPromptThatIsTooLongIsAnOutcome() throws Exception {
    Spent _ =
        run(
            folder.resolve("ledger.jsonl"),
            new Failing(ModelFailure.Kind.CONTEXT_TOO_LONG, 1),
            List.of(settings("sample", 1)));
    assertThat(answers.values().stream().map(a -> a.answer().why())).contains("no reply");
    assertThat(answers).hasSameSizeAs(TASKS);
  }
}
