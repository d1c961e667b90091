package dev.kbx;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Device;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run as it comes from a device that is not here; its intervals are ±1 % unless told otherwise.
 */
public final class SimulatedRun {
  public static final Device H200 =
      new Device("cuda", "NVIDIA H200", "GPU-5bd02c7a-91e4-4d0c", "580.95.05", "sm_90");
  public static final Device OTHER_H200 =
      new Device("cuda", "NVIDIA H200", "GPU-c11f09d2-38a7-42be", "580.95.05", "sm_90");
  public static final Device A100 =
      new Device("cuda", "NVIDIA A100-SXM4-80GB", "GPU-07f5a3e1-6c20-4f7d", "570.12", "sm_80");
  public static final Device CPU = new Device("cpu", "AMD EPYC", null, null, "sm_90");

  private final String id;
  private Device device;
  private final List<Verdict> verdicts = new ArrayList<>();
  private final List<String> sources = new ArrayList<>();
  private List<Stage> stages = List.of(Stage.values());
  private String baseline = "eager";
  private String triton = "3.7.1";
  private String tolerance = "model";
  private String policy = "kernel";
  private double width = 0.01;
  private @Nullable Boolean general = true;
  private int unjudged;
  private String tasks = "*";
  private String suite = "kernelbenchx";
  private int suiteTasks = 176;
  private @Nullable String method;
  private @Nullable String model;
  private @Nullable Integer round;
  private @Nullable String message;
  private Map<String, String> conditions = Map.of();
  private @Nullable SourceFeatures features;
  private List<String> flags = List.of();
  private final List<Map<String, Object>> figures = new ArrayList<>();

  private SimulatedRun(String id, Device device) {
    this.id = id;
    this.device = device;
  }

  /** An empty run; ids and start times follow {@code number}. */
  public static SimulatedRun on(Device device, int number) {
    return new SimulatedRun("20261121T0635%02d-kqzp".formatted(number), device);
  }

  /** The candidates after this are judged on another card of the same machine. */
  public SimulatedRun then(Device card) {
    device = card;
    return this;
  }

  /** What the candidates after this are timed against. */
  public SimulatedRun against(String name) {
    baseline = name;
    return this;
  }

  /** Half the width of the intervals after this, relative. */
  public SimulatedRun interval(double relative) {
    width = relative;
    return this;
  }

  public SimulatedRun triton(String version) {
    triton = version;
    return this;
  }

  /** How near its results had to be. */
  public SimulatedRun tolerance(String name) {
    tolerance = name;
    return this;
  }

  /** Who might compute its results. */
  public SimulatedRun policy(String name) {
    policy = name;
    return this;
  }

  public SimulatedRun stages(Stage... wanted) {
    stages = List.of(wanted);
    return this;
  }

  /** Which tasks it asked for, and how many these are. */
  public SimulatedRun asking(String selection, int count) {
    tasks = selection;
    suiteTasks = count;
    return this;
  }

  /** The suite of the run; of all candidates that are added after this. */
  public SimulatedRun of(String name) {
    suite = name;
    return this;
  }

  /** The correct candidates after this are not right at the general grade. */
  public SimulatedRun notGeneral() {
    general = false;
    return this;
  }

  /** It is not known of the correct candidates after this whether they are right at that grade. */
  public SimulatedRun unknownGrades() {
    general = null;
    return this;
  }

  /** What made the candidates after this. */
  public SimulatedRun by(String name) {
    method = name;
    return this;
  }

  /** Which model made the candidates after this. */
  public SimulatedRun model(String name) {
    model = name;
    return this;
  }

  /** Which round of a method the candidates after this are of. */
  public SimulatedRun round(int number) {
    round = number;
    return this;
  }

  /** What the verdicts on the candidates after this say. */
  public SimulatedRun saying(@Nullable String text) {
    message = text;
    return this;
  }

  /** What the candidates after this were generated under. */
  public SimulatedRun under(Map<String, String> stated) {
    conditions = stated;
    return this;
  }

  /** What the sources of the candidates after this are like. */
  public SimulatedRun featuring(@Nullable SourceFeatures found) {
    features = found;
    return this;
  }

  /** Flags of the candidates after this. */
  public SimulatedRun flagged(String... names) {
    flags = List.of(names);
    return this;
  }

  /** Further fields of each size of the timed candidates after this, from the first size. */
  public SimulatedRun measuring(List<Map<String, Object>> ofSizes) {
    figures.clear();
    figures.addAll(ofSizes);
    return this;
  }

  /** It was cut off with so many candidates to go. */
  public SimulatedRun cutOff(int left) {
    unjudged = left;
    return this;
  }

  /** A correct candidate, timed on three sizes where the device is a GPU. */
  public SimulatedRun correct(String task, String code, double speedup) {
    return correct(task, code, speedup, 1024, 2048, 4096);
  }

  /** A correct candidate that is not right at the general grade, untimed. */
  public SimulatedRun published(String task, String code) {
    Map<String, Object> fields = fields(task, code, Status.CORRECT, "correct");
    fields.put("grade", "published");
    for (String passed : List.of("call_ok", "exe_ok", "published_ok")) fields.put(passed, true);
    fields.put("general_ok", false);
    return add(fields, code);
  }

  /** A correct candidate of which nothing else is known, as of one whose other calls took long. */
  public SimulatedRun ofUnknownGrade(String task, String code) {
    Map<String, Object> fields = fields(task, code, Status.CORRECT, "correct");
    fields.remove("general_ok");
    return add(fields, code);
  }

  /** The same as {@link #correct(String, String, double)}, over these sizes. */
  public SimulatedRun correct(String task, String code, double speedup, int... sizes) {
    Map<String, Object> fields = fields(task, code, Status.CORRECT, "perf");
    if (device.kind().equals("cuda")) {
      Map<String, Object> whole = interval("value", speedup);
      whole.put("baseline", baseline);
      fields.put("speedup", whole);
      List<Map<String, Object>> timings = new ArrayList<>();
      for (int size : sizes) {
        Map<String, Object> timing = interval("speedup", speedup);
        timing.put("shape", "(%d,) float32".formatted(size));
        timing.put("candidate_ms", size * 1e-4);
        timing.put("reference_ms", size * 1e-4 * speedup);
        timing.put("rounds", 8);
        if (timings.size() < figures.size()) timing.putAll(figures.get(timings.size()));
        timings.add(timing);
      }
      fields.put("sizes", timings);
      fields.put("perf_ok", true);
    }
    return add(fields, code);
  }

  /** A correct candidate, timed against all baselines; NaN where there is none for the task. */
  public SimulatedRun timed(
      String task, String code, double eager, double compile, double maxAutotune) {
    List<Map<String, Object>> baselines = new ArrayList<>();
    baselines.add(against("eager", eager));
    baselines.add(against("compile", compile));
    baselines.add(against("max-autotune", maxAutotune));
    Map<String, Object> fields = fields(task, code, Status.CORRECT, "perf");
    fields.put("baselines", baselines);
    fields.put("perf_ok", true);
    return add(fields, code);
  }

  private Map<String, Object> against(String name, double speedup) {
    boolean failed = Double.isNaN(speedup);
    Map<String, Object> fields = failed ? new LinkedHashMap<>() : interval("speedup", speedup);
    fields.put("name", name);
    if (failed) fields.put("failure", "does not compile");
    return fields;
  }

  /** A correct candidate that was not timed. */
  public SimulatedRun untimed(String task, String code) {
    return add(fields(task, code, Status.CORRECT, "correct"), code);
  }

  /** A candidate that cannot be called. */
  public SimulatedRun uncallable(String task, String code, Status status) {
    Map<String, Object> fields = fields(task, code, status, "call");
    fields.put("call_ok", false);
    return add(fields, code);
  }

  /** A candidate that is not correct. */
  public SimulatedRun wrong(String task, String code, Status status) {
    return add(fields(task, code, status, "correct"), code);
  }

  /** A candidate with right values that ended otherwise while it was timed. */
  public SimulatedRun endedWhileTimed(String task, String code, Status status) {
    Map<String, Object> fields = fields(task, code, status, "perf");
    for (String known : List.of("exe_ok", "published_ok", "general_ok")) fields.put(known, true);
    fields.put("perf_ok", false);
    return add(fields, code);
  }

  /** A candidate that a static rule rejects. */
  public SimulatedRun rejected(String task, String code, String rule) {
    Map<String, Object> fields = fields(task, code, Status.REJECTED_STATIC, "static");
    fields.put("call_ok", false);
    fields.put("rule", rule);
    return add(fields, code);
  }

  /** A correct candidate that is right at the published grade and breaks on these properties. */
  public SimulatedRun breaking(String task, String code, String... properties) {
    Map<String, Object> fields = fields(task, code, Status.CORRECT, "correct");
    fields.put("published_ok", true);
    fields.put("general_ok", false);
    List<Map<String, Object>> breaks = new ArrayList<>();
    for (String property : properties) {
      breaks.add(Map.of("property", property, "case", "a call", "status", "wrong_values"));
    }
    fields.put("breaks", breaks);
    return add(fields, code);
  }

  private SimulatedRun add(Map<String, Object> fields, String code) {
    if (message != null) fields.put("message", message);
    verdicts.add(Json.mapper().convertValue(fields, Verdict.class));
    sources.add(code);
    return this;
  }

  private Map<String, Object> interval(String name, double value) {
    Map<String, Object> interval = new LinkedHashMap<>();
    interval.put(name, value);
    interval.put("low", value * (1 - width));
    interval.put("high", value * (1 + width));
    return interval;
  }

  private Map<String, Object> fields(String task, String code, Status status, String stage) {
    String name = task.substring(task.indexOf('/') + 1);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("run", id);
    fields.put("candidate", "%064x".formatted(code.hashCode() & 0xffffffffL));
    fields.put("source", name + ".py");
    fields.put("suite", suite);
    fields.put("task", name);
    fields.put("category", task.substring(0, task.indexOf('/')));
    if (status == Status.CORRECT && general != null) fields.put("general_ok", general);
    fields.put("sample", verdicts.stream().filter(v -> isOfSeries(v, name)).count());
    if (method != null) fields.put("method", method);
    if (model != null) fields.put("model", model);
    if (round != null) fields.put("round", round);
    if (!conditions.isEmpty()) fields.put("conditions", conditions);
    if (features != null) fields.put("features", features);
    fields.put("call_ok", true);
    if (status == Status.CORRECT) fields.put("exe_ok", true);
    fields.put("status", status.label());
    fields.put("stage", stage);
    fields.put("flags", flags);
    fields.put("device", device);
    fields.put("versions", versions());
    fields.put("seconds", Map.of("call", 0.5));
    return fields;
  }

  private boolean isOfSeries(Verdict verdict, String name) {
    return verdict.provenance().task().equals(name)
        && Objects.equals(verdict.provenance().method(), method)
        && Objects.equals(verdict.provenance().model(), model)
        && Objects.equals(verdict.provenance().round(), round);
  }

  private Map<String, String> versions() {
    return Map.of("kbx", "0.1.0", "torch", "2.13.0", "triton", triton);
  }

  public String id() {
    return id;
  }

  public List<Verdict> verdicts() {
    return List.copyOf(verdicts);
  }

  /** As analyses read it. */
  public JudgedRun judged() {
    return new JudgedRun(info(), VerdictRow.of(verdicts));
  }

  public RunInfo info() {
    var started =
        Instant.parse("2026-11-21T06:35:00Z").plusSeconds(Integer.parseInt(id.substring(13, 15)));
    return new RunInfo(
        id,
        started,
        finished(started),
        List.of("kernels"),
        suite,
        tasks,
        stages,
        List.of(),
        device,
        versions(),
        verdicts.size() + unjudged,
        suiteTasks,
        baseline,
        tolerance,
        "general",
        "fp32",
        policy,
        false,
        null,
        null,
        null,
        null);
  }

  private @Nullable Instant finished(Instant started) {
    return unjudged > 0 ? null : started.plusSeconds(103);
  }

  /** Puts it into a results folder, beside the runs there. */
  public SimulatedRun store(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("kbx.db")))) {
      return store(store);
    }
  }

  /** Puts it into a store, beside the runs there. */
  public SimulatedRun store(RunStore store) {
    store.begin(info());
    for (int i = 0; i < verdicts.size(); i++) {
      var _ = store.add(i, verdicts.get(i), sources.get(i));
    }
    if (unjudged == 0) store.finish(info());
    return this;
  }
}
