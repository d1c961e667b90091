package dev.kbx.app;

import dev.kbx.error.InputException;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.RecordedSpeedups;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.llm.ModelGateway;
import dev.kbx.method.Algorithm;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.prompt.Prompts;
import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The methods of a run, with their models opened. */
public final class PreparedMethods implements AutoCloseable {
  private final Home home;
  private final ModelCatalog catalog;
  private final Prompts prompts;
  private final boolean keepReplies;
  private final RunPlan run;
  private final List<Asked> asked;
  private final Map<String, ChatModel> models = new HashMap<>();
  private final List<ModelGateway> gateways = new ArrayList<>();
  private final Map<String, Semaphore> requests = new HashMap<>();
  private final Map<String, RecordedSpeedups> speedups = new HashMap<>();

  /**
   * A method as it was asked for.
   *
   * @param conditions what its prompts hold
   * @param from kernels to begin with, as {@link StartingKernels} finds them; null for none
   * @param program how the program that is the method is started; null for others
   * @param files what an agent sees of this machine beside its program and the system
   */
  public record Asked(
      MethodSettings settings,
      PromptConditions conditions,
      @Nullable Path from,
      PreparedMethod.@Nullable ProgramCommand program,
      List<Path> files) {
    public Asked {
      files = List.copyOf(files);
    }
  }

  /**
   * Opens nothing yet. Throws {@link InputException} if two methods have one name.
   *
   * @param keepReplies whether replies are kept in kbx's folder, and taken from there
   * @param run the tasks, and the plan by which feedback is found
   */
  public PreparedMethods(
      Home home,
      ModelCatalog catalog,
      Prompts prompts,
      boolean keepReplies,
      RunPlan run,
      List<Asked> asked) {
    this.home = home;
    this.catalog = catalog;
    this.prompts = prompts;
    this.keepReplies = keepReplies;
    this.run = run;
    this.asked = List.copyOf(asked);
    Set<String> names = new HashSet<>();
    for (MethodSettings each : settings()) {
      if (names.add(each.name())) continue;
      throw new InputException(
          "two methods are called %s: give one of them another --name".formatted(each.name()));
    }
  }

  /** Settings of all methods, their controls included. */
  public List<MethodSettings> settings() {
    return asked.stream().map(Asked::settings).toList();
  }

  /**
   * Opens the models.
   *
   * @param pool its device is what prompts say of the hardware
   * @param workers whose interpreter hides kbx's secrets from programs
   * @param out the results, which are hidden, too
   */
  public List<PreparedMethod> open(JudgingPool pool, JudgingSettings workers, Path out)
      throws InterruptedException {
    Commands commands = new Commands(home, workers, out, catalog, gateways);
    List<PreparedMethod> prepared = new ArrayList<>();
    for (Asked each : asked) {
      prepared.add(
          open(
              each.settings(),
              new PromptWriter(prompts, each.conditions(), pool.device(), pool.peaks()),
              StartingKernels.of(each.from(), out, run.suite().suite(), run.selected()),
              commands.of(each)));
    }
    return prepared;
  }

  /** Puts each program where it belongs: behind the screen or into a cage, made when needed. */
  private static final class Commands {
    private final Home home;
    private final JudgingSettings workers;
    private final Path out;
    private final ModelCatalog catalog;
    private final List<ModelGateway> gateways;
    private @Nullable ProgramScreen screen;
    private @Nullable AgentCages cages;

    Commands(
        Home home,
        JudgingSettings workers,
        Path out,
        ModelCatalog catalog,
        List<ModelGateway> gateways) {
      this.home = home;
      this.workers = workers;
      this.out = out;
      this.catalog = catalog;
      this.gateways = gateways;
    }

    PreparedMethod.@Nullable ProgramCommand of(Asked asked) throws InterruptedException {
      PreparedMethod.ProgramCommand program = asked.program();
      if (program == null) return null;
      if (asked.settings().options().method() == Algorithm.AGENT) return shutIn(asked, program);
      if (screen == null) {
        screen = ProgramScreen.of(home, workers.interpreter(), out, workers.observer()::note);
      }
      return program.with(screen.before(program.words()));
    }

    private PreparedMethod.ProgramCommand shutIn(Asked asked, PreparedMethod.ProgramCommand program)
        throws InterruptedException {
      if (cages == null) cages = AgentCages.of(home, workers.interpreter(), out);
      ModelGateway gateway = null;
      if (!asked.settings().model().equals(ModelCatalog.NONE)) {
        gateway = catalog.gateway(asked.settings().model());
        gateways.add(gateway);
      }
      AgentPreset preset = AgentPreset.of(asked.settings().options().program()).orElse(null);
      return cages.shutIn(program, preset, asked.files(), gateway);
    }
  }

  private PreparedMethod open(
      MethodSettings settings,
      PromptWriter writer,
      Function<Task, Optional<String>> start,
      PreparedMethod.@Nullable ProgramCommand program) {
    // An agent asks its model itself, by way of its gateway.
    String asks =
        settings.options().method() == Algorithm.AGENT ? ModelCatalog.NONE : settings.model();
    ChatModel model = models.computeIfAbsent(asks, this::model);
    Semaphore inFlight =
        requests.computeIfAbsent(settings.model(), _ -> new Semaphore(model.parallel(), true));
    return new PreparedMethod(
        settings,
        settings.options().method().open(settings.options()),
        model,
        catalog.price(settings.model()),
        inFlight,
        writer,
        start,
        speedups.computeIfAbsent(settings.model(), PreparedMethods::recorded),
        program);
  }

  /** Methods that replay the same ledger, as a control does, share what one reading found. */
  private static RecordedSpeedups recorded(String model) {
    return ModelCatalog.ledger(model).map(RecordedSpeedups::of).orElse(RecordedSpeedups.none());
  }

  private ChatModel model(String name) {
    Path replies = home.state().resolve("replies");
    return keepReplies ? catalog.openCached(name, replies) : catalog.open(name);
  }

  @Override
  public void close() {
    models.values().forEach(ChatModel::close);
    gateways.forEach(ModelGateway::close);
  }
}
