package dev.kbx.paper;

import dev.kbx.analysis.Inclusion;
import dev.kbx.document.Counted;
import dev.kbx.paper.MeasurementConditions.Range;
import dev.kbx.section.Captions;
import dev.kbx.section.MethodNames;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict.Device;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@link Publication.Measurement} in words: sentences by subject, plain text. */
final class Appendix {
  /**
   * One subject.
   *
   * @param items sentences; several are a list
   */
  record Item(String subject, List<String> items) {}

  private final Publication.Measurement measurement;
  private final MeasurementConditions conditions;
  private final List<Item> items = new ArrayList<>();

  private Appendix(Publication.Measurement measurement) {
    this.measurement = measurement;
    this.conditions = measurement.conditions();
  }

  static List<Item> of(Publication.Measurement measurement) {
    Appendix appendix = new Appendix(measurement);
    appendix.add("Runs", measurement.runs().stream().map(Appendix::run).toList());
    if (measurement.asPublished()) return appendix.asPublished();
    appendix.add("Devices", appendix.conditions.devices().stream().map(appendix::device).toList());
    appendix.add("Software", appendix.software());
    appendix.add("Coverage", appendix.coverage());
    appendix.add("Left out", appendix.exclusions());
    appendix.add("Correctness", appendix.correctness());
    appendix.add("Inputs and seeds", appendix.seeds());
    appendix.add("Timing", appendix.timing());
    appendix.add("Clocks", appendix.clocks());
    appendix.add("Noise floor", appendix.noise());
    appendix.add("Observations", appendix.flags());
    appendix.add("Statistics", List.of(statistics()));
    return appendix.items;
  }

  /** Nothing is known of how others measured. */
  private List<Item> asPublished() {
    add(
        "As published",
        measurement.runs().stream()
            .map(RunInfo::published)
            .filter(Objects::nonNull)
            .map(Appendix::imported)
            .toList());
    add("Coverage", coverage());
    add("Left out", exclusions());
    return items;
  }

  private static String imported(RunInfo.Published published) {
    return "All outcomes and speedups are those of the files read (%s), kbx has judged none of them.%s%s"
        .formatted(
            published.format(),
            Captions.leftOut(published),
            published.ofChanges()
                ? " No rates are given, as %s.".formatted(RunInfo.Published.NO_RATES)
                : "");
  }

  private void add(String subject, List<String> sentences) {
    if (!sentences.isEmpty()) items.add(new Item(subject, sentences));
  }

  private static String run(RunInfo run) {
    return "%s: suite %s, tasks %s; %s; stages %s; begun %s, %s."
        .formatted(
            run.id(),
            run.suite(),
            run.tasks().equals("*") ? "all" : run.tasks(),
            Counted.of(run.candidates(), "candidate"),
            run.stages().stream().map(Stage::label).collect(Collectors.joining(", ")),
            seconds(run.started()),
            run.finished() == null ? "not finished" : "finished " + seconds(run.finished()));
  }

  private static Instant seconds(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }

  private String device(Device device) {
    List<String> parts = new ArrayList<>(List.of(device.name()));
    if (device.onCpu()) {
      String arch = settings(RunInfo.Settings::arch);
      return "%s. Kernels %sran on the processor; nothing was timed."
          .formatted(device.name(), arch.isEmpty() ? "" : "were compiled for " + arch + " and ");
    }
    if (device.uuid() != null) parts.add(device.uuid());
    if (device.driver() != null) parts.add("driver " + device.driver());
    if (device.arch() != null) parts.add(device.arch());
    return String.join(", ", parts) + ".";
  }

  private List<String> software() {
    List<String> parts = new ArrayList<>();
    for (Map.Entry<String, SortedSet<String>> each : conditions.versions().entrySet()) {
      parts.add(each.getKey() + " " + String.join(" or ", each.getValue()));
    }
    return parts.isEmpty() ? List.of() : List.of(String.join("; ", parts) + ".");
  }

  private List<String> coverage() {
    Inclusion entered = measurement.entered();
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "%s of %s."
            .formatted(
                Counted.of(
                    entered.candidates(),
                    measurement.asPublished() ? "published result" : "judged candidate"),
                entered.ofChanges()
                    ? Counted.of(entered.tasks(), "task")
                    : "%d of the %d tasks asked for".formatted(entered.tasks(), entered.asked())));
    MethodNames makers = MethodNames.of(entered);
    for (Inclusion.Made made : entered.made()) {
      sentences.add(
          "%s: %s on %s, at most %d a task%s."
              .formatted(
                  makers.of(made.method(), made.model()),
                  Counted.of(made.candidates(), "candidate"),
                  Counted.of(made.tasks(), "task"),
                  made.samples(),
                  made.lastRound() == null ? "" : ", up to round " + made.lastRound()));
    }
    return sentences;
  }

  private List<String> exclusions() {
    Inclusion entered = measurement.entered();
    Inclusion.LeftOut out = entered.leftOut();
    List<String> sentences = new ArrayList<>();
    left(sentences, out.notJudged(), "not judged, as kbx or the task failed");
    left(sentences, out.variants(), "on variants of published tasks");
    left(sentences, out.repeated(), "the same candidate on the same device in another run");
    left(sentences, out.earlierRounds(), "of an earlier round; the analysis of rounds has them");
    int unfinished =
        measurement.runs().stream().mapToInt(RunInfo::candidates).sum()
            - entered.candidates()
            - out.all();
    left(sentences, Math.max(0, unfinished), "without a verdict, as the run was cut off");
    return sentences.isEmpty() ? List.of("No candidate.") : sentences;
  }

  private static void left(List<String> sentences, int count, String why) {
    if (count > 0) sentences.add("%s %s.".formatted(Counted.of(count, "candidate"), why));
  }

  private List<String> correctness() {
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "Results are compared by a process that the candidate cannot reach. Grade: %s; tolerance: %s; precision: %s; policy (who may compute): %s."
            .formatted(
                all(RunInfo::grade),
                all(RunInfo::tolerance),
                all(RunInfo::precision),
                conditions.policies().isEmpty()
                    ? all(run -> run.policy() == null ? "not stated" : run.policy())
                    : String.join(", ", conditions.policies())));
    sentences.add(
        "At the published grade only calls decide that ask for no more than the published tests,"
            + " at the general grade all that the operation accepts.");
    String off =
        measurement.runs().stream()
            .flatMap(run -> run.rulesOff().stream())
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    sentences.add(off.isEmpty() ? "All static rules were on." : "Static rules off: " + off + ".");
    String limits = settings(each -> each.timeoutSeconds() + " s");
    if (!limits.isEmpty()) sentences.add("Limit for one call: " + limits + ".");
    return sentences;
  }

  private List<String> seeds() {
    String seeds = settings(RunInfo.Settings::seed);
    return List.of(
        "The inputs of each call derive from a seed text, the task and the source of the candidate:"
            + " no candidate can predict them, and equal candidates get equal inputs.",
        seeds.isEmpty()
            ? "The hash of the seed text was not recorded."
            : "Hash of the seed text: %s. Equal candidates in runs with the same hash had the same inputs."
                .formatted(seeds));
  }

  private List<String> timing() {
    Range rounds = conditions.rounds();
    if (rounds == null) return List.of("Nothing was timed.");
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "Each size of a candidate is timed beside its reference on the same device, in alternating rounds: %s in %s. A task's speedup is the geometric mean over all sizes."
            .formatted(
                "%.0f to %.0f rounds, median %.0f"
                    .formatted(rounds.least(), rounds.most(), rounds.median()),
                Counted.of(conditions.timed(), "timed size")));
    if (conditions.weighted() > 0) {
      sentences.add(
          "Sizes that stand for stated parts of a workload's time: %d. The speedup of their tasks is that of the total time, 1 / sum(part / speedup of the size)."
              .formatted(conditions.weighted()));
    }
    sentences.add(
        "Baseline: %s, %s."
            .formatted(
                all(run -> Against.of(run.baseline()).ofAnyTask().baseline()),
                measurement.runs().stream().anyMatch(run -> Against.of(run.baseline()).warm())
                    ? "with a warm cache"
                    : "with a cold cache"));
    if (conditions.recorded() > 0) {
      sentences.add(
          "Timed as CUDA graphs, as launching takes longer: %s."
              .formatted(Counted.of(conditions.recorded(), "size")));
    }
    if (conditions.hostBound() > 0) {
      sentences.add(
          "Bound by the host, so that times include the host's: %s."
              .formatted(Counted.of(conditions.hostBound(), "size")));
    }
    return sentences;
  }

  private List<String> clocks() {
    if (conditions.timed() == 0) return List.of();
    List<String> parts = new ArrayList<>();
    clock(parts, "SM", conditions.clocks().smMhz(), "MHz");
    clock(parts, "memory", conditions.clocks().memoryMhz(), "MHz");
    clock(parts, "temperature", conditions.clocks().celsius(), "°C");
    clock(parts, "power", conditions.clocks().watts(), "W");
    String measured =
        parts.isEmpty()
            ? "The driver reported no clocks."
            : "Medians over the rounds of a size; least, median and most over sizes: %s."
                .formatted(String.join("; ", parts));
    String throttled =
        conditions.throttled() == 0
            ? "No timed size was throttled."
            : "Throttled: %s (%s)."
                .formatted(
                    Counted.of(conditions.throttled(), "timed size"),
                    String.join(", ", conditions.throttleReasons()));
    return List.of(measured, throttled);
  }

  private static void clock(List<String> parts, String name, @Nullable Range range, String unit) {
    if (range == null) return;
    parts.add(
        String.format(
            Locale.ROOT,
            "%s %.0f, %.0f, %.0f %s",
            name,
            range.least(),
            range.median(),
            range.most(),
            unit));
  }

  private List<String> noise() {
    if (conditions.timed() == 0) return List.of();
    List<String> sentences = new ArrayList<>();
    for (Device device : conditions.devices()) {
      if (device.uuid() == null) continue;
      NoiseFloor floor = NoiseFloor.of(device.uuid(), measurement.floors());
      sentences.add(
          floor == null
              ? "%s %s: not known here; kbx bench noise measures it."
                  .formatted(device.name(), device.uuid())
              : String.format(
                  Locale.ROOT,
                  "%s %s: references timed against themselves stay within %.2f %% in 95 %% of %d"
                      + " measurements, for calls of %.3g ms or more that do not wait for the host"
                      + " (%s).",
                  device.name(),
                  device.uuid(),
                  floor.relative() * 100,
                  floor.rows(),
                  floor.fromMs(),
                  floor.measured()));
    }
    return sentences;
  }

  private List<String> flags() {
    if (conditions.flags().isEmpty()) return List.of();
    String counts =
        conditions.flags().entrySet().stream()
            .map(flag -> flag.getKey() + " " + flag.getValue())
            .collect(Collectors.joining(", "));
    return List.of("Candidates with flags: " + counts + ".");
  }

  private static String statistics() {
    return "Intervals are 95 % intervals: Wilson's score interval for shares of tasks with one"
        + " candidate each or that all agree, a bootstrap over tasks with a fixed seed"
        + " otherwise. The interval of a size's speedup is of its measuring rounds and"
        + " includes what identical processes differ by; that of a task's speedup follows"
        + " from its sizes, that of a mean of speedups is over tasks. Tests of two methods"
        + " are exact and two-sided, over tasks; Holm: corrected for all tests of an"
        + " outcome. Other p values are not corrected.";
  }

  /** The values that the runs have of a setting. */
  private String all(Function<RunInfo, String> setting) {
    return measurement.runs().stream().map(setting).distinct().collect(Collectors.joining(" or "));
  }

  private String settings(Function<RunInfo.Settings, String> setting) {
    return measurement.runs().stream()
        .map(RunInfo::settings)
        .filter(Objects::nonNull)
        .map(setting)
        .distinct()
        .collect(Collectors.joining(" or "));
  }
}
