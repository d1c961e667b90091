package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.Kbx;
import dev.kbx.app.ResultsFolder;
import dev.kbx.check.Rules;
import dev.kbx.error.InputException;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.task.BackwardSuite;
import dev.kbx.task.BrokenTask;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.ScratchFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that several commands have, each declared once, as mixins. */
public final class Options {
  /** The names of all stages. */
  static final String STAGES = "static,compile,call,correct,perf";

  private Options() {}

  /** The stages that are named, in the order given. Throws {@link InputException}. */
  public static List<Stage> stages(List<String> names) {
    List<Stage> wanted = new ArrayList<>();
    for (String name : names) {
      try {
        wanted.add(Stage.valueOf(name.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException e) {
        throw new InputException("--stages: '%s' is not one of %s".formatted(name, STAGES));
      }
    }
    return wanted;
  }

  /** {@code --out}, of commands that write into a results folder or read one. */
  @HelpSection.In(HelpSection.RESULTS)
  public static final class OutFolder {
    @Option(
        names = "--out",
        paramLabel = "DIR",
        defaultValue = "kbx-out",
        description = "Results folder. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("kbx-out");

    public Path path() {
      return out;
    }

    /** The folder, which is created, and in which files can be written. */
    public Path writable() {
      return ResultsFolder.writable(out);
    }
  }

  /** Location of runs and verdicts: the results folder, or a team's database. */
  @HelpSection.In(HelpSection.RESULTS)
  static final class Store {
    @Option(
        names = "--store",
        paramLabel = "URL",
        description =
            "PostgreSQL database for runs and verdicts,"
                + " jdbc:postgresql://HOST/DATABASE?user=NAME, with its password in ~/.pgpass."
                + " Default: $KBX_STORE, else kbx.db in --out.")
    private @Nullable String url;

    /** A results folder with its store. */
    ResultsFolder of(Path out) {
      return ResultsFolder.of(out, url);
    }
  }

  /** Where runs and their verdicts are: {@code --out} and {@code --store}. */
  static final class Results {
    @Mixin private OutFolder out = new OutFolder();
    @Mixin private Store store = new Store();

    ResultsFolder folder() {
      return store.of(out.path());
    }
  }

  /** {@code --json}, of commands whose output programs read, too. */
  @HelpSection.In(HelpSection.RESULTS)
  public static final class JsonFlag {
    @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
    private boolean json;

    public boolean isAsked() {
      return json;
    }

    /** Prints a document on stdout, indented. */
    public static void print(Object document) {
      System.out.println(
          Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(document));
    }
  }

  /** What the run of a command is called. */
  @HelpSection.In(HelpSection.RESULTS)
  static final class Label {
    @Option(
        names = "--name",
        paramLabel = "NAME",
        converter = Values.RunName.class,
        description = "What lists and pages call the run, in one line.")
    @Nullable String name;

    @Option(
        names = "--note",
        paramLabel = "TEXT",
        converter = Values.RunNote.class,
        description = "What there is to say of the run, shown on its pages.")
    @Nullable String note;

    RunLabel label() {
      return new RunLabel(name, note);
    }
  }

  /** The suite option of commands that run no tasks. */
  @HelpSection.In(HelpSection.JUDGED)
  static final class SuiteChoice {
    @Option(
        names = "--suite",
        paramLabel = "SUITE",
        defaultValue = Suites.DEFAULT,
        description =
            "kernelbenchx, kernelbench, serving, or a folder of task files. Default:"
                + " ${DEFAULT-VALUE}.")
    private String suite = Suites.DEFAULT;

    @Option(
        names = "--backward",
        description = "The gradients of the suite's tasks in place of their results.")
    private boolean backward;

    private final Set<String> told = new HashSet<>();

    /** Opens the suite and reports, once, its unusable files. */
    Suite open() {
      return open(_ -> true);
    }

    /** Opens only the tasks of the suite whose names are wanted. */
    Suite open(Predicate<String> wanted) {
      String name = backward ? BackwardSuite.name(suite) : suite;
      Suite opened = Home.here().suite(name, wanted);
      for (BrokenTask problem : opened.broken()) {
        if (told.add(problem.toString())) System.err.println("kbx: " + problem);
      }
      return opened;
    }
  }

  /** By what candidates are judged, and how: what all commands share that begin runs. */
  @HelpSection.In(HelpSection.RULES)
  static final class Judging {
    @HelpSection.In(HelpSection.JUDGED)
    @Option(
        names = "--suite",
        paramLabel = "SUITE",
        description =
            "kernelbenchx, kernelbench, serving, or a folder of task files. Default: "
                + Suites.DEFAULT
                + ".")
    private @Nullable String suite;

    @HelpSection.In(HelpSection.JUDGED)
    @Option(
        names = "--reference",
        paramLabel = "FILE[:NAME]",
        description =
            "Your own reference in place of a suite: a Python file with a class Model, get_inputs()"
                + " and get_init_inputs(), or with a function and inputs(). NAME is the function,"
                + " where the file has several.")
    private @Nullable String reference;

    @HelpSection.In(HelpSection.JUDGED)
    @Option(
        names = "--backward",
        description =
            "Judge the gradients of the reference, or of the suite's tasks that have some ('kbx"
                + " tasks list --backward'). Of a function NAME, a candidate defines NAME_backward,"
                + " which takes the gradient of the result and then NAME's arguments, and returns"
                + " the gradients of the floating-point tensors among these. Of a class Model, it"
                + " defines ModelNew, of whose result PyTorch takes the gradients by inputs and"
                + " parameters.")
    private boolean backward;

    @HelpSection.In(HelpSection.JUDGED)
    @Option(
        names = "--tasks",
        paramLabel = "GLOB",
        defaultValue = "*",
        description =
            "Only these tasks: names or Category/name, with * and ?, or level/number, separated by"
                + " commas.")
    private String tasks = "*";

    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        defaultValue = "20",
        description =
            "Time limit for one call of a candidate's entry point, without compiling and waiting"
                + " for a processor. Default: ${DEFAULT-VALUE}.")
    private int timeout;

    @Option(
        names = "--policy",
        paramLabel = "POLICY",
        description =
            "Who may compute results: kernel (kernels of the candidate's file; PyTorch may finish"
                + " off small partial results), or mixed (some of the work; PyTorch's share is"
                + " reported). Default: mixed for modules (Model, ModelNew) and imported tasks,"
                + " else kernel.")
    private @Nullable String policy;

    @Mixin private Arch arch = new Arch();
    @Mixin private GradeChoice grade = new GradeChoice();
    @Mixin private PrecisionChoice precision = new PrecisionChoice();
    @Mixin private Seed seed = new Seed();
    @Mixin private RulesOff rules = new RulesOff();

    /** What was asked for. Throws InputException for a value that there is not. */
    Kbx.Options options() {
      if (reference != null && suite != null) {
        throw new InputException(
            "--reference and --suite: give one of them; a reference needs no suite");
      }
      Kbx.Options options =
          new Kbx.Options()
              .tasks(tasks)
              .timeout(Duration.ofSeconds(timeout))
              .off(rules.off())
              .arch(arch.arch())
              .grade(grade.grade())
              .precision(precision.precision());
      if (suite != null) options.suite(suite);
      if (reference != null) options.reference(reference);
      if (backward) options.backward();
      if (policy != null) options.policy(policy(policy));
      seed.given().ifPresent(options::seed);
      return options;
    }

    private static Policy policy(String name) {
      return Policy.of(name)
          .orElseThrow(() ->
              new InputException("--policy: '%s' is not one of kernel,mixed".formatted(name)));
    }
  }

  /** {@code --arch}, of commands that compile kernels. */
  @HelpSection.In(HelpSection.RULES)
  static final class Arch {
    @Option(
        names = "--arch",
        paramLabel = "ARCH",
        defaultValue = Plan.ARCH,
        description =
            "Architecture to compile kernels for without a GPU: sm_80, sm_86, sm_89, sm_90,"
                + " sm_100. Default: ${DEFAULT-VALUE}.")
    private String arch = Plan.ARCH;

    /** The architecture as given: what uses it refuses a wrong one. */
    String arch() {
      return arch;
    }
  }

  /** {@code --grade}, of commands that judge candidates. */
  @HelpSection.In(HelpSection.RULES)
  public static final class GradeChoice {
    @Option(
        names = "--grade",
        paramLabel = "GRADE",
        defaultValue = "published",
        description =
            "Calls that decide: published (what the published tests of the task, or the inputs of a"
                + " --reference, ask for), or general (whatever the operation accepts). Both are"
                + " made, and what breaks is listed. Default: ${DEFAULT-VALUE}.")
    private String grade = "published";

    /** Throws if there is no such grade. */
    public Grade grade() {
      return parse(grade);
    }

    /** The grade of that name. Throws InputException if there is none. */
    static Grade parse(String name) {
      return Grade.of(name)
          .orElseThrow(() ->
              new InputException("--grade: '%s' is not one of published,general".formatted(name)));
    }
  }

  /** {@code --precision}, of commands that judge modules. */
  @HelpSection.In(HelpSection.RULES)
  static final class PrecisionChoice {
    @Option(
        names = "--precision",
        paramLabel = "NAME",
        defaultValue = "fp32",
        description =
            "For tasks with a Model, as KernelBench's: cast the weights and floating-point inputs"
                + " of reference and candidate to fp16 or bf16, or leave them as the task states"
                + " (fp32). Default: ${DEFAULT-VALUE}.")
    private String precision = "fp32";

    /** Throws if there is no such precision. */
    ModulePrecision precision() {
      return ModulePrecision.of(precision)
          .orElseThrow(() ->
              new InputException(
                  "--precision: '%s' is not one of fp32,fp16,bf16".formatted(precision)));
    }
  }

  /** {@code --policy}: who may compute results. */
  @HelpSection.In(HelpSection.RULES)
  static final class PolicyChoice {
    @Option(
        names = "--policy",
        paramLabel = "POLICY",
        description =
            "Who may compute results: kernel (kernels of the candidate's file; PyTorch may finish"
                + " off small partial results), or mixed (some of the work; PyTorch's share is"
                + " reported). Default: mixed for modules (Model, ModelNew) and imported tasks,"
                + " else kernel.")
    private @Nullable String policy;

    /** The policy asked for; empty for each task's own. Throws if there is none of that name. */
    Optional<Policy> policy() {
      return Optional.ofNullable(policy).map(PolicyChoice::parse);
    }

    private static Policy parse(String name) {
      return Policy.of(name)
          .orElseThrow(() ->
              new InputException("--policy: '%s' is not one of kernel,mixed".formatted(name)));
    }
  }

  /** Seed of the values of inputs and weights. */
  @HelpSection.In(HelpSection.RULES)
  public static final class Seed {
    @Option(
        names = "--seed",
        paramLabel = "TEXT",
        converter = Values.Text.class,
        description =
            "Seed of all inputs. Default: a secret of this installation, so that no candidate can"
                + " predict them.")
    private @Nullable String seed;

    /** The given seed. */
    Optional<String> given() {
      return Optional.ofNullable(seed);
    }

    /** The given seed, else the secret of this installation. */
    public String seed() {
      return seed == null ? Home.here().secret() : seed;
    }
  }

  /** Which static rules are switched on. */
  @HelpSection.In(HelpSection.RULES)
  static final class RulesOff {
    @Option(
        names = "--off",
        paramLabel = "ID",
        split = ",",
        description = "Switch static rules off. 'kbx check --rules' lists all.")
    private List<String> off = List.of();

    /** The ids that are switched off, each once, sorted. */
    List<String> off() {
      return off.stream().map(String::strip).distinct().sorted().toList();
    }

    /** The rules that are left. Throws UnknownRule. */
    Rules rules() {
      return Rules.all().without(off());
    }
  }

  /** The configuration of language models. */
  @HelpSection.In(HelpSection.MODEL)
  static final class Models {
    private static final String VARIABLE = "KBX_MODELS";
    private static final String NAME = "models.toml";

    @Option(
        names = "--models",
        paramLabel = "FILE",
        description =
            "Configuration of models. Default: $KBX_MODELS, else models.toml in this folder, else"
                + " ~/.config/kbx/models.toml.")
    private @Nullable Path file;

    ModelCatalog catalog() {
      return ModelCatalog.read(file(), System.getenv(), ScratchFolder::files);
    }

    /** The file in use; it may not exist, unless it was named. */
    Path file() {
      return file(System.getenv());
    }

    private Path file(Map<String, String> environment) {
      if (file != null) return existing("--models", file);
      String named = environment.getOrDefault(VARIABLE, "");
      if (!named.isEmpty()) return existing(VARIABLE, Path.of(named));
      Path here = Path.of(NAME);
      Path own = Path.of(environment.getOrDefault("HOME", ""), ".config", "kbx", NAME);
      return Stream.of(here, own).filter(Files::exists).findFirst().orElse(here);
    }

    private static Path existing(String from, Path named) {
      if (Files.isRegularFile(named)) return named;
      throw new InputException("%s %s: is not a file".formatted(from, named));
    }
  }

  /** Options of every command that starts workers. */
  @HelpSection.In(HelpSection.PLACE)
  public static final class Workers {
    @Option(
        names = "--python",
        paramLabel = "EXE",
        description =
            "Python interpreter with torch and triton. Default: $KBX_PYTHON, else an environment"
                + " that kbx installs.")
    private @Nullable Path python;

    @Mixin private Devices devices = new Devices();

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /** Throws if the interpreter that the user named is not a program; starts nothing. */
    public void check() {
      check(python);
    }

    /**
     * Checks what these stages need; a wrong {@code KBX_PYTHON} does not matter if none needs it.
     */
    public void check(List<Stage> stages) {
      if (python != null || JudgingPool.needsPython(stages)) check(python);
    }

    /** Checks the interpreter for a command that has only the option {@code --python}. */
    public static void check(@Nullable Path python) {
      PythonEnvironment.check(Optional.ofNullable(python), System.getenv());
    }

    /** This machine as what judges. */
    public JudgingSettings settings() {
      return of(null);
    }

    /** The cluster that is named, else this machine. */
    JudgingSettings settings(Cluster nodes) {
      return of(nodes.cluster().orElse(null));
    }

    private JudgingSettings of(JudgingSettings.@Nullable Cluster cluster) {
      return devices.settings(requireNonNull(command), Optional.ofNullable(python), cluster);
    }
  }

  /** Which devices judge, and how many candidates at a time. */
  @HelpSection.In(HelpSection.PLACE)
  static final class Devices {
    @Option(
        names = "--device",
        paramLabel = "DEVICE",
        defaultValue = "auto",
        description =
            "auto, cpu, cuda or cuda:0,1. Default: ${DEFAULT-VALUE}: every GPU, else the CPU.")
    private String device = "auto";

    @Option(
        names = "--jobs",
        paramLabel = "N",
        converter = Values.Count.class,
        description =
            "Candidates or tasks judged in parallel, on the CPU or on each GPU. Default: one per"
                + " processor, at most 16 per GPU. A GPU times one at a time.")
    private int jobs; // 0 where it is not given.

    /** What judges, by an interpreter; without one by that which kbx finds. */
    JudgingSettings settings(
        CommandSpec command, Optional<Path> python, JudgingSettings.@Nullable Cluster cluster) {
      return new JudgingSettings(
          Home.here(),
          Main.workers(command),
          python,
          device,
          jobs,
          cluster,
          new TerminalObserver());
    }
  }

  /** Where a command judges: on this machine, or on the nodes of a Ray cluster. */
  @HelpSection.In(HelpSection.PLACE)
  static final class Cluster {
    @Option(
        names = "--cluster",
        paramLabel = "ADDRESS",
        description =
            "Judge on the nodes of a Ray cluster: ray://HOST:PORT, HOST:PORT, or auto for the one"
                + " that this machine belongs to. --device and --jobs are then each node's.")
    private @Nullable String address;

    @Option(
        names = "--device-class",
        paramLabel = "NAME",
        description =
            "With --cluster: judge only on devices with this in their name, such as H100. Default:"
                + " that of the first node.")
    private @Nullable String deviceClass;

    @Option(
        names = "--cluster-slots",
        paramLabel = "N",
        description =
            "With --cluster on a cluster that scales: ask its autoscaler for as many GPUs as have"
                + " work (without GPUs: nodes), N at most, and give back those that are idle."
                + " Default: the cluster as it is.")
    private @Nullable Integer slots;

    /** The cluster, if one judges. */
    Optional<JudgingSettings.Cluster> cluster() {
      if (address == null && deviceClass != null) {
        throw new InputException(
            "--device-class: chooses among the nodes of a --cluster; give both");
      }
      if (address == null && slots != null) {
        throw new InputException("--cluster-slots: asks the autoscaler of a --cluster; give both");
      }
      if (slots != null && slots < 1)
        throw new InputException("--cluster-slots: must be at least 1");
      if (address == null) return Optional.empty();
      return Optional.of(
          new JudgingSettings.Cluster(
              address,
              Optional.ofNullable(deviceClass),
              slots == null ? OptionalInt.empty() : OptionalInt.of(slots)));
    }
  }
}
