package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.analysis.IncomparableRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.stats.Median;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.TaskNumber;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A run of the KernelBench suite as a run folder of KernelBench: a file for every kernel, the
 * results, and the references' times. If kernels were read from such a folder, its prompts and its
 * configuration are copied.
 */
public final class RunFolder {
  private static final String CONFIGURATION = "generation_config.yaml";

  private final Path folder;
  private final Set<Path> configurations = new HashSet<>();
  private final Times times = new Times();
  private int kernels;
  private int prompts;
  private int untimed;

  /**
   * @param folder empty, or not there yet: it is created with the first file
   */
  public RunFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * What was written.
   *
   * @param configuration whether a configuration was copied, which needs exactly one
   * @param untimed correct kernels without a runtime
   */
  public record Written(int kernels, int prompts, boolean configuration, int untimed) {}

  /**
   * Writes all files; none if no verdict is on a KernelBench task, or if one of the kernels cannot
   * be written.
   *
   * @param sourceOf a candidate's Python source; may throw, and then nothing is written
   */
  public Written write(RunVerdicts verdicts, Function<Verdict, String> sourceOf) {
    Map<RunFile, RunVerdicts.Entry> files = files(verdicts);
    for (RunVerdicts.Entry entry : files.values()) {
      Objects.requireNonNull(sourceOf.apply(verdicts.whole(entry)));
    }
    if (!files.isEmpty()) createFolder();
    files.forEach((file, entry) -> write(file, verdicts.whole(entry), sourceOf));
    if (kernels > 0) {
      new EvalResultFiles(folder).write(verdicts);
      times.write(folder);
    }
    boolean configured = configurations.size() == 1;
    if (configured) copy(configurations.iterator().next(), CONFIGURATION);
    return new Written(kernels, prompts, configured, untimed);
  }

  private void createFolder() {
    UnwritableException.naming(folder, () -> Files.createDirectories(folder));
  }

  private static Map<RunFile, RunVerdicts.Entry> files(RunVerdicts verdicts) {
    Map<RunFile, RunVerdicts.Entry> files = new LinkedHashMap<>();
    for (RunVerdicts.Entry entry : verdicts.entries()) {
      VerdictRow row = entry.row();
      if (!EvalResultFiles.covers(row.suite())) continue;
      @Nullable TaskNumber task = TaskNumber.of(row.category(), row.task()).orElse(null);
      if (task == null || files.put(new RunFile(task, row.sample()), entry) == null) continue;
      throw new IncomparableRuns(
          "the run has several candidates for sample %d of %s/%s, of several models, methods or rounds; a run folder has one"
              .formatted(row.sample(), row.category(), row.task()));
    }
    return files;
  }

  private void write(RunFile file, Verdict verdict, Function<Verdict, String> sourceOf) {
    Path target = folder.resolve(file.name());
    UnwritableException.naming(
        target,
        () -> Files.writeString(target, sourceOf.apply(verdict), StandardOpenOption.CREATE_NEW));
    kernels++;
    times.add(file.task(), verdict);
    if (EvalResultFiles.Entry.of(verdict, file.sample()).untimed()) untimed++;
    origin(verdict).ifPresent(from -> takeAlong(from, file));
  }

  /** The run folder's file that a candidate was read from. */
  private static Optional<Path> origin(Verdict verdict) {
    Path source = Path.of(verdict.provenance().source());
    Path name = source.getFileName();
    return name == null || RunFile.parse(name.toString()).isEmpty()
        ? Optional.empty()
        : Optional.of(source);
  }

  private void takeAlong(Path from, RunFile as) {
    RunFile read = RunFile.parse(from.getFileName().toString()).orElseThrow();
    Path prompt = from.resolveSibling(read.promptName());
    if (Files.isRegularFile(prompt)) {
      copy(prompt, as.promptName());
      prompts++;
    }
    Path configuration = from.resolveSibling(CONFIGURATION);
    if (Files.isRegularFile(configuration)) configurations.add(configuration);
  }

  private void copy(Path from, String name) {
    Path target = folder.resolve(name);
    UnwritableException.naming(target, () -> Files.copy(from, target));
  }

  /**
   * Times of the references in a run, in KernelBench's format: {@code
   * results/timing/<hardware>/<baseline>.json}, by level and file of the problem.
   *
   * <p>Only for problems with a correct sample timed on a GPU: candidate and reference were timed
   * together, so that their ratio is a speedup.
   */
  static final class Times {
    /** KernelBench's names of kbx's baselines; others have no file. */
    private static final Map<String, String> NAMES =
        Map.of(
            "eager", "baseline_time_torch",
            "compile", "baseline_time_torch_compile_inductor_default",
            "max-autotune", "baseline_time_torch_compile_inductor_max-autotune");

    /** Milliseconds of one problem, one for each timed sample, and their rounds. */
    private record Measured(
        String file, Verdict.Device device, List<Double> ms, List<Integer> rounds) {
      static Measured of(Verdict verdict) {
        return new Measured(
            verdict.provenance().task() + ".py",
            verdict.judgement().device(),
            new ArrayList<>(),
            new ArrayList<>());
      }
    }

    /**
     * One problem's time. KernelBench reads {@code mean}. kbx does not know the mean of single
     * calls and writes the median, as for the runtime it is compared with.
     *
     * @param mean milliseconds
     * @param median the same
     * @param numTrials measuring rounds; null for a compiled reference, whose gain may be from an
     *     earlier run
     */
    @JsonPropertyOrder({"mean", "median", "num_trials", "hardware", "device"})
    private record Time(
        double mean, double median, @Nullable Integer numTrials, String hardware, String device) {
      static Time of(Measured measured) {
        double ms = Median.of(measured.ms());
        int rounds = measured.rounds().stream().mapToInt(Integer::intValue).sum();
        return new Time(
            ms,
            ms,
            rounds == 0 ? null : rounds,
            measured.device().name(),
            measured.device().kind());
      }
    }

    /** By path below the run folder, then by problem. */
    private final Map<String, Map<TaskNumber, Measured>> files = new TreeMap<>();

    /** Adds the baselines' times of a verdict, if any. */
    void add(TaskNumber task, Verdict verdict) {
      List<SizeTiming> sizes = verdict.judgement().sizes();
      boolean timed =
          verdict.judgement().status() == Status.CORRECT
              && Objects.equals(verdict.judgement().perfOk(), true);
      if (!timed || verdict.judgement().device().onCpu() || sizes == null || sizes.size() != 1) {
        return;
      }
      SizeTiming size = sizes.getFirst();
      measured("eager", task, verdict, size.referenceMs()).rounds().add(size.rounds());
      List<Baseline> baselines = verdict.judgement().baselines();
      if (baselines == null) return;
      for (Baseline baseline : baselines) {
        List<Double> ms = baseline.sizesMs();
        boolean compiled = !baseline.name().equals("eager") && NAMES.containsKey(baseline.name());
        if (compiled && ms != null) measured(baseline.name(), task, verdict, ms.getFirst());
      }
    }

    private Measured measured(String baseline, TaskNumber task, Verdict verdict, double ms) {
      String hardware = verdict.judgement().device().name().replaceAll("[^A-Za-z0-9.-]+", "_");
      Measured measured =
          files
              .computeIfAbsent(hardware + "/" + NAMES.get(baseline) + ".json", _ -> new TreeMap<>())
              .computeIfAbsent(task, _ -> Measured.of(verdict));
      measured.ms().add(ms);
      return measured;
    }

    /**
     * Writes a file for each hardware and baseline; none if nothing was measured.
     *
     * @param folder the run folder
     */
    void write(Path folder) {
      files.forEach((name, problems) -> {
        Path file = folder.resolve("results/timing").resolve(name);
        UnwritableException.naming(file, () -> Files.createDirectories(file.getParent()));
        AtomicFile.replace(file, writer -> write(writer, problems));
      });
    }

    /** In the order of the problems' numbers, by which KernelBench's analysis pairs them. */
    private static void write(Writer writer, Map<TaskNumber, Measured> problems) {
      try (JsonGenerator generator = RunVerdicts.JSON.createGenerator(writer)) {
        generator.writeStartObject();
        int level = -1;
        for (var problem : problems.entrySet()) {
          if (problem.getKey().level() != level) {
            if (level >= 0) generator.writeEndObject();
            level = problem.getKey().level();
            generator.writeName("level" + level);
            generator.writeStartObject();
          }
          generator.writeName(problem.getValue().file());
          RunVerdicts.JSON.writeValue(generator, Time.of(problem.getValue()));
        }
        generator.writeEndObject();
        generator.writeEndObject();
      }
    }
  }
}
