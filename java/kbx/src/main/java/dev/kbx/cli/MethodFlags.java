package dev.kbx.cli;

import dev.kbx.app.AgentPreset;
import dev.kbx.app.PreparedMethods;
import dev.kbx.app.ProgramScreen;
import dev.kbx.app.RunPlan;
import dev.kbx.error.InputException;
import dev.kbx.generate.Budget;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.CommandModel;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Choice;
import dev.kbx.method.MethodOptions;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.task.Task;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * One method of a run: the flags of {@code kbx generate} and {@code kbx run}, and the keys of a
 * {@code [[method]]} table.
 */
final class MethodFlags {
  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--method",
      paramLabel = "METHOD",
      description =
          "single (one prompt, one reply), sample (the same --samples times), refine (turns with"
              + " what the referee found), bestof (--width replies, the best counts), geak,"
              + " kernelagent, evolve, external (a program of yours, --program), or agent (one in"
              + " the sandbox, which has a workspace, its model and kbx-judge alone).")
  private @Nullable String method;

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description =
          "Who answers: openai:NAME, anthropic:NAME, gemini:NAME, a model of models.toml,"
              + " replay:LEDGER, or command:PROGRAM. 'kbx models' lists them.")
  private @Nullable String model;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--program",
      paramLabel = "COMMAND",
      description =
          "The method external or agent: a program of yours with its arguments, started for each"
              + " trajectory; of agents also claude-code, codex, gemini-cli or mini-swe-agent,"
              + " installed by you. An external one runs as you, outside of the candidates'"
              + " sandbox; kbx's secrets, results and keys in the environment are hidden from it."
              + " See docs/methods.md and docs/agents.md.")
  private @Nullable String program;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--program-env",
      paramLabel = "NAMES",
      description =
          "Environment variables with keys that the program is to have, separated by commas, as"
              + " OPENAI_API_KEY. Default: none; others it gets anyway. Not for agents, which get"
              + " no variables of yours.")
  private String programEnv = "";

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--program-files",
      paramLabel = "PATHS",
      split = ",",
      description =
          "Files and folders that an agent's program needs beside its own folder and the system,"
              + " separated by commas. It sees them, and cannot write to them.")
  private List<Path> programFiles = List.of();

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--program-timeout",
      paramLabel = "SECONDS",
      converter = Values.Count.class,
      description =
          "Longest time for one answer of an external program (default: 600), or for the whole"
              + " work of an agent at a task (default: 1800).")
  private int programTimeout;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--name",
      paramLabel = "NAME",
      converter = Values.FolderName.class,
      description = "What verdicts and reports call this method. Default: the method.")
  private @Nullable String name;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--samples",
      paramLabel = "N",
      converter = Values.Count.class,
      description = "Trajectories for each task. Default: 1; for sample 10.")
  private int samples;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--turns",
      paramLabel = "N",
      converter = Values.Count.class,
      description =
          "Turns of refine; rounds of geak, kernelagent and evolve. Default: the"
              + " published number. Most answers of external's program (100).")
  private int turns;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--width",
      paramLabel = "N",
      converter = Values.Count.class,
      description =
          "Replies of bestof, descendants of geak, workers of kernelagent, islands of evolve."
              + " Default: the published number.")
  private int width;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--answer",
      paramLabel = "WHICH",
      description =
          "Kernel of a trajectory of refine or kernelagent that counts: best (of the correct the"
              + " one with the highest lower bound of its speedup), last, or first (correct)."
              + " Default: best; for kernelagent first.")
  private @Nullable String answer;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--tuning",
      paramLabel = "N",
      converter = Values.Count.class,
      description = "Rounds of kernelagent's second stage, which makes its kernel faster.")
  private int tuning;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--as-published",
      description = "Keep the known defects of the published method (geak, kernelagent).")
  private boolean asPublished;

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--temperature",
      paramLabel = "T",
      converter = Values.Temperature.class,
      description = "Temperature of requests. Default: the published one of the method, if any.")
  private @Nullable Double temperature;

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--top-p",
      paramLabel = "P",
      converter = Values.Probability.class,
      description = "Nucleus of sampling.")
  private @Nullable Double topP;

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      converter = Values.Count.class,
      description = "Limit of a reply, with its reasoning.")
  private @Nullable Integer maxTokens;

  @HelpSection.In(HelpSection.MODEL)
  @Option(
      names = "--reasoning-effort",
      paramLabel = "WORD",
      description = "In the provider's words: low, medium, high.")
  private @Nullable String reasoningEffort;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--from",
      paramLabel = "FILE|DIR|RUN",
      description =
          "Begin with these kernels, to mend them or make them faster: whatever 'kbx eval' reads,"
              + " such as a Python file, a folder, or predictions (of several for a task the one"
              + " without a round, else the first sample of the last round), or the best ones of a"
              + " run: its id in --out, or a results folder.")
  private @Nullable Path from;

  @HelpSection.In(HelpSection.BUDGET)
  @Option(
      names = "--budget",
      paramLabel = "LIST",
      description =
          "Limits for each trajectory, one or several with commas and no blanks between them:"
              + " calls=N, requests=N, tokens=N, usd=X, wall=SECONDS, device=SECONDS.")
  private @Nullable String budget;

  @HelpSection.In(HelpSection.BUDGET)
  @Option(
      names = "--total-budget",
      paramLabel = "LIST",
      description = "Limits for the method over all tasks, as --budget.")
  private @Nullable String totalBudget;

  @HelpSection.In(HelpSection.METHOD)
  @Option(
      names = "--control",
      description =
          "Also run bestof with the same model, budget and number of requests beside it, as"
              + " NAME-control.")
  private boolean control;

  @Mixin private ConditionFlags conditions = new ConditionFlags();

  /** Where they are written, for messages; null for the command line. */
  private @Nullable String place;

  /** Takes a method and a name where the command line gives none. */
  void orElse(Algorithm usual, String called) {
    if (method == null) method = usual.label();
    if (name == null) name = called;
  }

  /**
   * Takes them for those of a table of a file, in whose folder the ledger is that the model may
   * replay.
   *
   * @param table number of the table, from 1
   */
  void writtenIn(Path file, int table) {
    place = "%s, [[method]] %d: ".formatted(file, table);
    if (model != null) model = ModelCatalog.in(file.getParent(), model);
  }

  /**
   * The method and, if that is asked for, its control. Throws {@link InputException} with the place
   * of the flags for wrong ones.
   *
   * @param run the tasks, and the plan by which feedback is found
   * @param prompts version of the prompts
   * @param redact removes keys from what a program says
   */
  List<PreparedMethods.Asked> asked(RunPlan run, String prompts, UnaryOperator<String> redact) {
    try {
      PromptConditions asked = conditions(run.plan(), run.selected().getFirst());
      MethodSettings settings = settings(asked, prompts);
      PreparedMethods.Asked own =
          new PreparedMethods.Asked(
              settings, asked, from, command(redact).orElse(null), programFiles());
      if (!control) return List.of(own);
      return List.of(
          own, new PreparedMethods.Asked(control(settings), asked, null, null, List.of()));
    } catch (InputException e) {
      throw place == null ? e : new InputException(place + e.getMessage());
    }
  }

  PromptConditions conditions(Plan plan, Task task) {
    return conditions.conditions(plan, task);
  }

  /** Throws if one of the tasks cannot be asked for in this way. */
  void check(List<Task> tasks) {
    conditions.check(tasks);
  }

  FeedbackKind feedback() {
    return conditions.feedback();
  }

  MethodOptions options() {
    Algorithm method = method();
    return new MethodOptions(
        method,
        turns > 0 ? turns : method.turns(),
        width > 0 ? width : method.width(),
        tuning,
        answer(method),
        asPublished,
        program(method));
  }

  private @Nullable String program(Algorithm method) {
    if (method.isProgram() == (program != null)) return program;
    throw new InputException(
        method.isProgram()
            ? "--program: is missing; it is the method, as --program 'python3 agent.py'"
            : "--program: only --method external and agent have one");
  }

  private List<Path> programFiles() {
    for (Path file : programFiles) {
      if (Files.exists(file)) continue;
      throw new InputException("--program-files: %s does not exist".formatted(file));
    }
    if (!programFiles.isEmpty() && method() != Algorithm.AGENT) {
      throw new InputException("--program-files: only --method agent needs it");
    }
    return programFiles;
  }

  /**
   * How the program is started; empty if the method is none.
   *
   * @param redact removes keys from what it says
   */
  private Optional<PreparedMethod.ProgramCommand> command(UnaryOperator<String> redact) {
    if (program(method()) == null) return Optional.empty();
    List<String> words =
        AgentPreset.of(method() == Algorithm.AGENT ? program : null)
            .map(AgentPreset::words)
            .orElseGet(() -> CommandModel.words("--program ", String.valueOf(program)));
    if (!Executables.exists(words.getFirst())) {
      throw new InputException(
          "--program: %s is not a program that can be started; name a file that is executable, or one of the PATH"
              .formatted(words.getFirst()));
    }
    Set<String> asked =
        Arrays.stream(programEnv.split(","))
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .collect(Collectors.toSet());
    List<String> absent = ProgramScreen.absent(asked, System.getenv());
    if (!absent.isEmpty()) {
      throw new InputException(
          "--program-env %s: is not set; export it, or leave it out".formatted(absent.getFirst()));
    }
    return Optional.of(
        new PreparedMethod.ProgramCommand(
            words, timeout(), redact, ProgramScreen.environment(asked)));
  }

  private Duration timeout() {
    int usual = method() == Algorithm.AGENT ? 1800 : 600;
    return Duration.ofSeconds(programTimeout > 0 ? programTimeout : usual);
  }

  @Nullable Path from() {
    return from;
  }

  /** The method as settings of a run. */
  private MethodSettings settings(PromptConditions asked, String prompts) {
    Algorithm method = method();
    return new MethodSettings(
        name == null ? method.label() : name,
        options(),
        model(method),
        new Parameters(temperature(method), topP, maxTokens, reasoningEffort, null),
        samples > 0 ? samples : method.samples(),
        asked.factors(),
        BudgetText.parse("--budget", budget),
        BudgetText.parse("--total-budget", totalBudget),
        from == null ? null : from.toString(),
        prompts);
  }

  /** Best of as many single replies, with the same model and budget. */
  private static MethodSettings control(MethodSettings of) {
    if (of.model().equals(ModelCatalog.NONE)) {
      throw new InputException(
          "--control: asks the method's model, and there is none; name one with --model");
    }
    int calls = calls(of);
    return new MethodSettings(
        of.name() + "-control",
        new MethodOptions(Algorithm.BESTOF, 1, calls, 0, Choice.BEST, false),
        of.model(),
        of.parameters(),
        of.samples(),
        of.factors(),
        of.perTask(),
        of.inAll(),
        null,
        of.prompts());
  }

  /** The most requests of a trajectory. How often a program asks is its own affair. */
  private static int calls(MethodSettings of) {
    Long limit = of.perTask().calls();
    if (of.options().program() == null) {
      int most = of.options().method().open(of.options()).mostCalls();
      return limit == null ? most : (int) Math.min(limit, most);
    }
    if (limit != null) return (int) Math.min(limit, Integer.MAX_VALUE);
    throw new InputException(
        "--control: how many requests a program makes is not known beforehand; limit both"
            + " with --budget calls=N");
  }

  private Algorithm method() {
    String labels =
        Stream.of(Algorithm.values()).map(Algorithm::label).collect(Collectors.joining(","));
    if (method == null) throw new InputException("--method: is missing; one of " + labels);
    return Algorithm.of(method)
        .orElseThrow(
            () -> new InputException("--method: '%s' is not one of %s".formatted(method, labels)));
  }

  private String model(Algorithm method) {
    if (model != null && model.equals(ModelCatalog.NONE) && !method.isProgram()) {
      throw new InputException(
          "--model none: only --method external and agent need none; 'kbx models' lists what there"
              + " is");
    }
    if (model != null) return model;
    if (method.isProgram()) return ModelCatalog.NONE;
    throw new InputException("--model: is missing; 'kbx models' lists what there is");
  }

  private Choice answer(Algorithm method) {
    if (answer == null) return method.answer();
    return Choice.of(answer)
        .orElseThrow(() ->
            new InputException("--answer: '%s' is not one of best,last,first".formatted(answer)));
  }

  private @Nullable Double temperature(Algorithm method) {
    return temperature != null ? temperature : method.temperature();
  }

  /** Programs that can be started. */
  private static final class Executables {
    private Executables() {}

    /** Whether a command's first word is one: a path, or a name on the PATH. */
    static boolean exists(String word) {
      if (word.contains("/")) return isProgram(Path.of(word));
      String path = System.getenv().getOrDefault("PATH", "");
      return Stream.of(path.split(File.pathSeparator, -1))
          .filter(folder -> !folder.isEmpty())
          .anyMatch(folder -> isProgram(Path.of(folder, word)));
    }

    private static boolean isProgram(Path file) {
      return Files.isRegularFile(file) && Files.isExecutable(file);
    }
  }

  /** Budgets as users write them: {@code calls=10,usd=0.5}. */
  private static final class BudgetText {
    private static final List<String> KEYS =
        List.of("calls", "requests", "tokens", "usd", "wall", "device");
    private static final List<String> WHOLE = List.of("calls", "requests", "tokens");

    private BudgetText() {}

    /**
     * @param option for messages
     */
    static Budget parse(String option, @Nullable String text) {
      if (text == null) return Budget.NONE;
      Map<String, Double> limits = new LinkedHashMap<>();
      for (String part : text.split(",", -1)) {
        String[] sides = part.strip().split("=", -1);
        if (sides.length != 2 || !KEYS.contains(sides[0])) throw refused(option, part.strip());
        double amount = amount(option, part.strip(), sides[1]);
        if (WHOLE.contains(sides[0]) && amount != Math.rint(amount)) {
          throw refused(option, part.strip());
        }
        if (limits.put(sides[0], amount) != null) {
          throw new InputException("%s: has '%s' twice".formatted(option, sides[0]));
        }
      }
      return new Budget(
          whole(limits.get("calls")),
          whole(limits.get("requests")),
          whole(limits.get("tokens")),
          limits.get("usd"),
          limits.get("wall"),
          limits.get("device"));
    }

    private static double amount(String option, String part, String text) {
      try {
        double amount = Double.parseDouble(text);
        if (amount > 0 && Double.isFinite(amount)) return amount;
      } catch (NumberFormatException _) {
        // Refused below.
      }
      throw refused(option, part);
    }

    private static @Nullable Long whole(@Nullable Double limit) {
      return limit == null ? null : Long.valueOf((long) limit.doubleValue());
    }

    private static InputException refused(String option, String part) {
      return new InputException(
          "%s: '%s' is not a limit; write calls=10,requests=20,tokens=50000,usd=0.50,wall=600,device=60, each above 0"
              .formatted(option, part));
    }
  }
}
