package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.device.Gpu;
import dev.kbx.device.PeakCache;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.python.Pythons;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Task;
import dev.kbx.timing.BaselineCache;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Zygote;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.databind.json.JsonMapper;

/**
 * Slots whose zygote and oracle are scripts under {@code java/tests/src/test/resources/fake}: what
 * a runner says to each request is the candidate's source.
 */
public final class FakeWorkers {
  public static final Verdict.Device DEVICE = new Verdict.Device("cpu", "fake", null, null, null);

  /** The program itself: to find it behind a shim takes as long as its start, at every start. */
  static final Path PYTHON = Pythons.base();

  private static final Path HOME = Path.of("java/tests/src/test/resources/fake").toAbsolutePath();

  /** An architecture for which no runner survives being attached. */
  public static final String NO_ATTACHING = "sm_0";

  /** A GPU for which something can be compiled ahead: C++ is not judged otherwise. */
  public static final int OF_KNOWN_ARCHITECTURE = 6;

  private FakeWorkers() {}

  public static Workers start() {
    return start(_ -> {});
  }

  /** Workers that take no time but what their scripts say. */
  public static Workers start(FakeClock clock) {
    return start(clock, Path.of("target/compilers"));
  }

  /** The same, whose compilers of baselines work in a folder. */
  public static Workers compilingIn(Path compilers) throws IOException {
    return start(FakeClock.in(compilers), compilers);
  }

  private static Workers start(FakeClock clock, Path compilers) {
    return new Workers(clock.python(), HOME, PeakCache.nowhere(), compilers, clock, _ -> {});
  }

  /** Workers that say to {@code notices} what they cannot do. */
  public static Workers start(Consumer<String> notices) {
    return start(PYTHON, notices);
  }

  private static Workers start(Path python, Consumer<String> notices) {
    return new Workers(python, HOME, PeakCache.nowhere(), Path.of("target/compilers"), notices);
  }

  /**
   * Workers of a machine that cannot compile C++.
   *
   * @param folder for a program of theirs
   */
  public static Workers withoutCompilers(Path folder) throws IOException {
    return start(python(folder, "export KBX_FAKE_LACKS='no nvcc'"), _ -> {});
  }

  /**
   * Workers that write a line to stderr before they greet.
   *
   * @param folder for a program of theirs
   */
  public static Workers writing(Path folder, String line, Consumer<String> notices)
      throws IOException {
    return start(python(folder, "echo '" + line + "' >&2"), notices);
  }

  /** An interpreter before which a line of a shell runs. */
  private static Path python(Path folder, String before) throws IOException {
    Path python = folder.resolve("python");
    Files.writeString(python, "#!/bin/sh\n%s\nexec '%s' \"$@\"\n".formatted(before, PYTHON));
    Files.setPosixFilePermissions(python, PosixFilePermissions.fromString("rwx------"));
    return python;
  }

  public static LocalReferee referee(Slot... slots) {
    return new LocalReferee(
        List.of(slots), DEVICE, Map.of(), baselines(), BinaryCache.nowhere(), SyntaxCheck.PARSER);
  }

  private static BaselineCache baselines() {
    return new BaselineCache(Path.of("target/baselines"), _ -> {});
  }

  /** A judgingSlot on a slot that remembers nothing from before. */
  public static JudgingSlot judgingSlot(Slot slot) {
    return judgingSlot(slot, BinaryCache.nowhere(), baselines());
  }

  public static JudgingSlot judgingSlot(Slot slot, BinaryCache binaries, BaselineCache baselines) {
    Gpu gpu = slot.gpu();
    return new JudgingSlot(
        slot, binaries, gpu == null ? null : SharedGpu.of(gpu, baselines), SyntaxCheck.PARSER);
  }

  public static Slot slot(Workers workers, int index) {
    return workers.slot(DeviceSlot.cpu(index));
  }

  /** Everything but the static stage, for which these sources are no Python. */
  public static Plan plan(Duration call, Duration correctness) {
    return plan("sm_90", call, correctness);
  }

  private static Plan plan(String arch, Duration call, Duration correctness) {
    return new Plan(
        List.of(Stage.COMPILE, Stage.CALL, Stage.CORRECT),
        Rules.all(),
        arch,
        "secret",
        new Limits(call, call, correctness, call, new Zygote.Allowance(1, 1, 1, 1)));
  }

  public static Plan plan() {
    return plan(Duration.ofSeconds(10), Duration.ofSeconds(60));
  }

  public static Plan plan(String arch) {
    return plan(arch, Duration.ofSeconds(10), Duration.ofSeconds(60));
  }

  /** All but the static and the compile stage, the performance stage included. */
  static Plan timedPlan(Limits limits) {
    return new Plan(
        List.of(Stage.CALL, Stage.CORRECT, Stage.PERF), Rules.all(), "sm_90", "secret", limits);
  }

  static Plan timedPlan() {
    return timedPlan(plan().limits());
  }

  public static Candidate candidate(String task, Map<String, ?> script) {
    return candidate("suite", task, "f", script);
  }

  /** A candidate for a task of another suite. */
  public static Candidate candidate(String suite, String task, Map<String, ?> script) {
    return candidate(suite, task, "f", script);
  }

  /** A candidate for a task that is a module. */
  public static Candidate module(String task, Map<String, ?> script) {
    return candidate("suite", task, Task.MODULE, script);
  }

  /** The same answer once more: another sample of its task. */
  public static Candidate sample(Candidate one, int sample) {
    return new Candidate(
        one.task(),
        one.source(),
        one.origin(),
        sample,
        one.method(),
        one.model(),
        one.round(),
        Map.of());
  }

  private static Candidate candidate(
      String suite, String task, String entry, Map<String, ?> script) {
    return new Candidate(
        new Task(
            suite,
            "Category",
            task,
            entry,
            "f()",
            null,
            null,
            List.of(),
            false,
            "",
            "",
            List.of(),
            null,
            Path.of(task + ".py"),
            null),
        JsonMapper.shared().writeValueAsString(script),
        task + ".py",
        0,
        null,
        null,
        null);
  }
}
