package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.ProgramScreen;
import dev.kbx.app.RunPlan;
import dev.kbx.app.StartingKernels;
import dev.kbx.error.InputException;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.RecordedSpeedups;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ModelCatalog;
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

/** The methods of a run with their models opened. */
final class PreparedMethods implements AutoCloseable {
  private final GenerationFlags flags;
  private final RunPlan asked;
  private final ModelCatalog catalog;
  private final Prompts prompts;
  private final Map<String, ChatModel> models = new HashMap<>();
  private final Map<String, Semaphore> requests = new HashMap<>();
  private final Map<String, RecordedSpeedups> speedups = new HashMap<>();

  PreparedMethods(GenerationFlags flags, RunPlan asked) {
    this.flags = flags;
    this.asked = asked;
    this.catalog = flags.models.catalog();
    this.prompts = flags.prompts();
  }

  /** Settings of all methods with their controls; refuses two of one name, and wrong ones. */
  List<MethodSettings> settings(List<MethodFlags> given) {
    given.forEach(method -> method.check(asked.selected()));
    List<MethodSettings> settings = given.stream().flatMap(m -> settings(m).stream()).toList();
    Set<String> names = new HashSet<>();
    for (MethodSettings each : settings) {
      if (names.add(each.name())) continue;
      throw new InputException(
          "two methods are called %s: give one of them another --name".formatted(each.name()));
    }
    return settings;
  }

  /**
   * Opens the models.
   *
   * @param pool its device is what prompts say of the hardware
   * @param workers whose interpreter hides kbx's secrets from programs
   */
  List<PreparedMethod> open(List<MethodFlags> given, JudgingPool pool, JudgingSettings workers)
      throws InterruptedException {
    Optional<ProgramScreen> screen =
        given.stream().anyMatch(method -> program(method) != null)
            ? Optional.of(
                ProgramScreen.of(
                    Home.here(), workers.interpreter(), flags.out.path(), Terminal::say))
            : Optional.empty();
    List<PreparedMethod> prepared = new ArrayList<>();
    for (MethodFlags method : given) {
      PromptWriter writer =
          new PromptWriter(prompts, conditions(method), pool.device(), pool.peaks());
      for (MethodSettings each : settings(method)) {
        prepared.add(
            open(
                each,
                writer,
                StartingKernels.of(
                    each.start() == null ? null : method.from(),
                    flags.out.path(),
                    asked.suite().suite(),
                    asked.selected()),
                each.options().program() == null ? null : screened(program(method), screen)));
      }
    }
    return prepared;
  }

  /** A method's settings, and those of its control if it has one. */
  private List<MethodSettings> settings(MethodFlags method) {
    try {
      MethodSettings asked = method.settings(conditions(method), prompts.version());
      var _ = program(method); // Refused early if it cannot be started.
      return method.hasControl() ? List.of(asked, MethodFlags.control(asked)) : List.of(asked);
    } catch (InputException e) {
      throw method.placed(e);
    }
  }

  private static PreparedMethod.@Nullable ProgramCommand screened(
      PreparedMethod.@Nullable ProgramCommand program, Optional<ProgramScreen> screen) {
    if (program == null || screen.isEmpty()) return program;
    return program.with(screen.get().before(program.words()));
  }

  private PreparedMethod.@Nullable ProgramCommand program(MethodFlags method) {
    return method.command(catalog::redact).orElse(null);
  }

  private PreparedMethod open(
      MethodSettings settings,
      PromptWriter writer,
      Function<Task, Optional<String>> start,
      PreparedMethod.@Nullable ProgramCommand program) {
    ChatModel model = models.computeIfAbsent(settings.model(), this::model);
    Semaphore inFlight =
        requests.computeIfAbsent(settings.model(), _ -> new Semaphore(model.parallel(), true));
    return new PreparedMethod(
        settings,
        settings.options().open(),
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
    Path replies = Home.here().state().resolve("replies");
    return flags.keepReplies ? catalog.openCached(name, replies) : catalog.open(name);
  }

  private PromptConditions conditions(MethodFlags method) {
    return method.conditions(asked.plan(), asked.selected().getFirst());
  }

  @Override
  public void close() {
    models.values().forEach(ChatModel::close);
  }
}
