package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.ProgramScreen;
import dev.kbx.app.StoreExamination;
import dev.kbx.app.WorkerPool;
import dev.kbx.document.Counted;
import dev.kbx.plan.Limits;
import dev.kbx.python.Interpreter;
import dev.kbx.store.StoreFlaw;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleHost;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import dev.kbx.worker.ZygoteMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code kbx doctor}: tests what this machine supports. */
@Command(
    name = "doctor",
    description =
        "Show devices, versions, measured peaks and which protections hold on this machine, and"
            + " check the store; or show the nodes of a cluster.",
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
  private static final Duration PEAKS = Duration.ofMinutes(2);

  @Mixin private Options.Workers workers = new Options.Workers();

  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Mixin private Options.Results results = new Options.Results();

  @Option(
      names = "--mend",
      description = "Make anew what is wrong in the store and derives from other data there.")
  private boolean mend;

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  /** Results for one device. */
  private record Findings(
      DeviceSlot slot,
      Map<String, Object> device,
      List<ZygoteMessage.Protection> protections,
      @Nullable Map<String, Double> peaks,
      @Nullable String problem) {}

  @Override
  public Integer call() throws Exception {
    JudgingSettings settings = workers.settings(cluster);
    if (settings.cluster() != null) {
      return ClusterDoctor.examine(settings, settings.cluster(), json.isAsked())
          ? ExitCode.OK
          : ExitCode.INCOMPLETE;
    }
    StoreExamination store = StoreExamination.examine(results.folder(), mend);
    List<DeviceSlot> slots = JudgingSettings.slots(settings.device(), 1);
    Interpreter python = settings.interpreter();
    List<Findings> found = new ArrayList<>();
    try (Zygote zygote =
        Zygote.start(python.executable(), Home.here().folder(), System::nanoTime, Terminal::say)) {
      for (DeviceSlot slot : slots) {
        found.add(examine(python, zygote, slot));
      }
      if (json.isAsked()) print(zygote, python, found, store);
      else tell(zygote, python, found, store);
    }
    boolean well = store.isWell() && found.stream().allMatch(f -> f.problem() == null);
    return well ? ExitCode.OK : ExitCode.INCOMPLETE;
  }

  private static Findings examine(Interpreter python, Zygote zygote, DeviceSlot slot)
      throws InterruptedException {
    try (Oracle oracle =
        Oracle.start(
            OracleHost.trusting(python.executable(), Home.here().folder(), System::nanoTime),
            slot)) {
      Map<String, Object> device = new TreeMap<>();
      Message.Hello hello = oracle.hello();
      if (hello.device() != null) device.putAll(hello.device());
      try (Runner runner =
          zygote.spawn(slot, "sm_90", hello, Limits.defaults().allowance(), Runner.Use.CALLED)) {
        List<ZygoteMessage.Protection> protections = runner.protections();
        var _ = runner.end();
        return measured(slot, device, protections, oracle);
      }
    } catch (WorkerFailure e) {
      return new Findings(slot, Map.of(), List.of(), null, e.getMessage());
    }
  }

  private static Findings measured(
      DeviceSlot slot,
      Map<String, Object> device,
      List<ZygoteMessage.Protection> protections,
      Oracle oracle)
      throws InterruptedException {
    try {
      PeakRates peaks =
          oracle
              .ask(
                  OracleMessage.Peaks.class, id -> new OracleMessage.MeasurePeaks(id, false), PEAKS)
              .rates();
      return new Findings(slot, device, protections, figures(peaks), null);
    } catch (Oracle.Refused e) {
      String problem = slot.kind() == DeviceSlot.Kind.CUDA ? e.getMessage() : null;
      return new Findings(slot, device, protections, null, problem);
    }
  }

  private static Map<String, Double> figures(PeakRates peaks) {
    Map<String, Double> figures = new LinkedHashMap<>();
    if (peaks.copyGbs() != null) figures.put("copy_gbs", peaks.copyGbs());
    if (peaks.emptyMs() != null) figures.put("empty_ms", peaks.emptyMs());
    if (peaks.launchMs() != null) figures.put("launch_ms", peaks.launchMs());
    peaks
        .tflops()
        .forEach((p, rate) -> figures.put(p.name().toLowerCase(Locale.ROOT) + "_tflops", rate));
    return figures;
  }

  private static String text(@Nullable Object value) {
    return value instanceof JsonNode node ? node.asString() : String.valueOf(value);
  }

  private static void print(
      Zygote zygote, Interpreter python, List<Findings> found, StoreExamination store)
      throws InterruptedException {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kbx", Home.version());
    document.put("java", System.getProperty("java.version"));
    document.put("home", Home.here().folder().toString());
    document.put("python", python.executable().toString());
    document.put("versions", zygote.hello().versions());
    if (store.exists()) document.put("store", fields(store));
    document.put("devices", found.stream().map(DoctorCommand::fields).toList());
    document.put("program_screen", ProgramScreen.problem(Home.here(), python).orElse("on"));
    Options.JsonFlag.print(document);
  }

  private static Map<String, Object> fields(Findings f) {
    Map<String, Object> row = new LinkedHashMap<>(f.device());
    row.put("slot", f.slot().kind().label() + ":" + f.slot().index());
    row.put("protections", f.protections());
    if (f.peaks() != null) row.put("peaks", f.peaks());
    if (f.problem() != null) row.put("problem", f.problem());
    return row;
  }

  private static void tell(
      Zygote zygote, Interpreter python, List<Findings> found, StoreExamination store)
      throws InterruptedException {
    System.out.printf("kbx      %s in %s%n", Home.version(), Home.here().folder());
    System.out.printf("java     %s%n", System.getProperty("java.version"));
    System.out.printf("python   %s%n", python.executable());
    new TreeMap<>(zygote.hello().versions())
        .forEach((name, version) -> System.out.printf("         %s %s%n", name, version));
    for (String name : WorkerPool.TOOLCHAIN) {
      if (zygote.hello().versions().containsKey(name)) continue;
      System.out.printf("         %s absent: inline CUDA C++ cannot be compiled%n", name);
    }
    new TreeMap<>(WorkerPool.PACKAGES)
        .forEach((name, what) -> {
          if (zygote.hello().versions().containsKey(name)) return;
          System.out.printf(
              "         %s absent: no kernels in %s; %s -m pip install %s%n",
              name, what, python.executable(), name);
        });
    lines(store).forEach(System.out::println);
    System.out.println(
        "programs "
            + ProgramScreen.problem(Home.here(), python)
                .map(why -> "of --method external CAN READ kbx's secrets and results: " + why)
                .orElse("of --method external do not see kbx's secrets and results"));
    for (Findings f : found) {
      System.out.printf(
          "%ndevice   %s:%d  %s%n",
          f.slot().kind().label(), f.slot().index(), text(f.device().get("name")));
      f.device()
          .forEach((name, value) -> System.out.printf("         %s: %s%n", name, text(value)));
      if (f.problem() != null) System.out.printf("         PROBLEM: %s%n", f.problem());
      System.out.println(
          "peaks    "
              + (f.peaks() == null
                  ? "not measured" + (f.problem() == null ? ": no GPU" : "")
                  : f.peaks()));
      System.out.println("protections around a candidate");
      for (ZygoteMessage.Protection p : f.protections()) {
        System.out.printf("  %-4s %-12s %s%n", p.active() ? "on" : "OFF", p.name(), p.detail());
      }
    }
  }

  /** The findings in a store as lines for people; none if there is no store. */
  private static List<String> lines(StoreExamination store) {
    if (store.place() == null) return List.of();
    if (store.problem() != null) return List.of("store    PROBLEM: " + store.problem());
    List<String> lines = new ArrayList<>();
    lines.add(
        "store    %s: %s, %s%s"
            .formatted(
                store.place(),
                Counted.of(store.runs(), "run"),
                Counted.of(store.verdicts(), "verdict"),
                store.flaws().isEmpty() ? ", nothing wrong" : ""));
    if (!store.mended().isEmpty()) lines.add("         mended: " + counted(store.mended()));
    List<StoreFlaw> mendable = store.flaws().stream().filter(StoreFlaw::mendable).toList();
    if (!mendable.isEmpty()) {
      lines.add("         PROBLEM: %s; kbx doctor --mend mends that".formatted(counted(mendable)));
    }
    List<StoreFlaw> lasting = store.flaws().stream().filter(flaw -> !flaw.mendable()).toList();
    if (!lasting.isEmpty()) {
      lines.add("         PROBLEM: %s; restore a backup".formatted(counted(lasting)));
    }
    return lines;
  }

  private static String counted(List<StoreFlaw> flaws) {
    return flaws.stream()
        .map(flaw -> "%s: %,d".formatted(flaw.what(), flaw.rows()))
        .collect(Collectors.joining(", "));
  }

  private static Map<String, Object> fields(StoreExamination store) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("place", String.valueOf(store.place()));
    fields.put("runs", store.runs());
    fields.put("verdicts", store.verdicts());
    fields.put("mended", store.mended());
    fields.put("flaws", store.flaws());
    if (store.problem() != null) fields.put("problem", store.problem());
    return fields;
  }
}
