package dev.kbx.app;

import dev.kbx.device.DeviceDescription;
import dev.kbx.device.PeakCache;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.judge.BinaryCache;
import dev.kbx.judge.JudgeFingerprint;
import dev.kbx.judge.LocalReferee;
import dev.kbx.judge.Verification;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.timing.BaselineCache;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.OracleHost;
import dev.kbx.worker.PeakRates;
import dev.kbx.worker.WorkerFailure;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The workers of a command and their device; no workers for the static stage. */
public final class WorkerPool implements JudgingPool {
  /** Workers' names for the compilers of inline CUDA C++: device and host. */
  public static final List<String> TOOLCHAIN = List.of("nvcc", "cxx");

  /** What sees who computes a result: without it, or with another, a verdict may be another. */
  private static final List<String> WITNESSES = List.of("witness", "cupti");

  /** Packages other than Triton in which candidates may write kernels, with what they are for. */
  public static final Map<String, String> PACKAGES =
      Map.of("tilelang", "TileLang", "nvidia-cutlass-dsl", "the CuTe DSL");

  private final Workers workers;
  private final JudgingSettings settings;
  private final Slot first;
  private final List<DeviceSlot> places;
  private final LocalReferee referee;
  private final SyntaxCheck syntax;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  private WorkerPool(
      Workers workers,
      JudgingSettings settings,
      List<Slot> slots,
      Verdict.Device device,
      Map<String, String> workerVersions,
      BaselineCache baselines,
      BinaryCache binaries) {
    this.workers = workers;
    this.settings = settings;
    this.first = slots.getFirst();
    this.places = slots.stream().map(Slot::device).toList();
    this.device = device;
    this.versions = new TreeMap<>(workerVersions);
    versions.put("kbx", Home.version());
    versions.put("judge", JudgeFingerprint.ofThis());
    this.syntax = settings.home().syntax(settings.python());
    this.referee = new LocalReferee(slots, device, versions, baselines, binaries, syntax);
  }

  /** Workers for the stages of a plan. */
  public static WorkerPool start(JudgingSettings settings, Plan plan) throws InterruptedException {
    return JudgingPool.needsPython(plan.stages()) ? start(settings) : withoutPython(settings);
  }

  /** What judges the static stage alone. */
  public static WorkerPool withoutPython(JudgingSettings settings) {
    Home home = settings.home();
    Workers none =
        new Workers(
            home.folder(),
            home.folder(),
            PeakCache.nowhere(),
            compilers(home),
            settings.observer()::note);
    return new WorkerPool(
        none,
        settings.with(WorkerSource.NEW),
        JudgingSettings.slots("cpu", settings.jobs()).stream().map(none::slot).toList(),
        Verdict.Device.none(),
        Map.of(),
        BaselineCache.nowhere(),
        BinaryCache.nowhere());
  }

  /**
   * Workers for a suite that is somebody else's. Its code runs in a sandbox, and nothing that this
   * code measured or made is kept.
   *
   * @param suite the suite's folder, by its real path
   */
  static WorkerPool confined(JudgingSettings settings, Plan plan, Path suite)
      throws InterruptedException {
    if (!JudgingPool.needsPython(plan.stages())) return withoutPython(settings);
    Home home = settings.home();
    Path python = settings.interpreter().executable();
    OracleHost host = new OracleHost(python, home.workers(), System::nanoTime, suite);
    Workers workers =
        new Workers(host, PeakCache.nowhere(), compilers(home), settings.observer()::note);
    return start(
        settings.with(WorkerSource.NEW),
        workers,
        settings.slots(),
        true,
        BaselineCache.nowhere(),
        BinaryCache.nowhere());
  }

  /** Starts the zygote and the first oracle; the other oracles start with their first candidate. */
  public static WorkerPool start(JudgingSettings settings) throws InterruptedException {
    return start(settings, true);
  }

  /** A pool without the zygote, for tasks that no candidate is judged for. */
  public static WorkerPool forTasks(JudgingSettings settings) throws InterruptedException {
    return start(settings, false);
  }

  private static WorkerPool start(JudgingSettings settings, boolean candidates)
      throws InterruptedException {
    List<DeviceSlot> wanted = settings.slots();
    Path python = settings.interpreter().executable();
    try {
      return start(settings, python, wanted, candidates);
    } catch (WorkerFailure e) {
      if (!settings.device().equals("auto") || wanted.getFirst().kind() == DeviceSlot.Kind.CPU)
        throw e;
      settings
          .observer()
          .note("the GPU cannot be used (" + e.getMessage() + "); judging on the CPU");
      return start(settings, python, JudgingSettings.slots("cpu", settings.jobs()), candidates);
    }
  }

  private static WorkerPool start(
      JudgingSettings settings, Path python, List<DeviceSlot> wanted, boolean candidates)
      throws InterruptedException {
    Home home = settings.home();
    Consumer<String> note = settings.observer()::note;
    return start(
        settings,
        settings
            .workers()
            .take(
                python,
                home.workers(),
                () ->
                    new Workers(
                        python,
                        home.workers(),
                        PeakCache.in(home.state().resolve("peaks"), InstantSource.system(), note),
                        compilers(home),
                        note)),
        wanted,
        candidates,
        new BaselineCache(home.state().resolve("baselines"), note),
        BinaryCache.in(home.state().resolve("compiled"), note));
  }

  private static WorkerPool start(
      JudgingSettings settings,
      Workers workers,
      List<DeviceSlot> wanted,
      boolean candidates,
      BaselineCache baselines,
      BinaryCache binaries)
      throws InterruptedException {
    List<Slot> slots = wanted.stream().map(workers::slot).toList();
    try {
      workers.begin();
      Optional<Thread> zygote = candidates ? Optional.of(workers.beginZygote()) : Optional.empty();
      Message.Hello hello = slots.getFirst().greeting();
      Map<String, String> versions = new TreeMap<>(hello.versions());
      if (zygote.isPresent()) {
        zygote.get().join();
        versions.putAll(ofCandidates(workers));
      }
      return new WorkerPool(
          workers, settings, slots, DeviceDescription.of(hello), versions, baselines, binaries);
    } catch (WorkerFailure | InterruptedException e) {
      settings.workers().giveBack(workers);
      throw e;
    }
  }

  /** Folder for compiler caches. */
  private static Path compilers(Home home) {
    return home.state().resolve("baselines").resolve("compilers");
  }

  /**
   * What else a verdict depends on: what sees who computes, and what kernels are compiled with,
   * which is packages, and the compilers of C++ if there is one for CUDA.
   */
  private static Map<String, String> ofCandidates(Workers workers) throws InterruptedException {
    try {
      Map<String, String> all = workers.zygote().hello().versions();
      Set<String> names = new HashSet<>(PACKAGES.keySet());
      names.addAll(WITNESSES);
      if (all.containsKey("nvcc")) names.addAll(TOOLCHAIN);
      Map<String, String> found = new TreeMap<>(all);
      found.keySet().retainAll(names);
      // Why there is none differs from try to try, by paths and numbers; kbx doctor shows it.
      found.computeIfPresent("witness", (_, witness) -> witness.split(":", 2)[0]);
      return found;
    } catch (WorkerFailure e) {
      return Map.of(); // The first candidate gets the reason.
    }
  }

  @Override
  public LocalReferee referee() {
    return referee;
  }

  @Override
  public Verification tasks(Plan plan) {
    return new Verification(referee, plan);
  }

  @Override
  public Observer observer() {
    return settings.observer();
  }

  @Override
  public String described() {
    return "";
  }

  /** The slots; each judges one candidate at a time. */
  public List<DeviceSlot> places() {
    return places;
  }

  /** As {@link Workers#spending}. */
  public Map<Integer, Map<String, Double>> spending() {
    return workers.spending();
  }

  @Override
  public Verdict.Device device() {
    return device;
  }

  @Override
  public MeasuredPeaks peaks() throws InterruptedException {
    PeakRates rates = first.knownPeaks().orElse(PeakRates.UNKNOWN);
    Map<String, Double> tflops = new TreeMap<>();
    rates
        .tflops()
        .forEach((precision, rate) -> tflops.put(precision.name().toLowerCase(Locale.ROOT), rate));
    return MeasuredPeaks.of(rates.copyGbs(), tflops);
  }

  @Override
  public Map<String, String> versions() {
    return versions;
  }

  @Override
  public void close() {
    syntax.close();
    settings.workers().giveBack(workers);
  }
}
