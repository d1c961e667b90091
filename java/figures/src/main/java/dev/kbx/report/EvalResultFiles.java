package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.TaskNumber;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results of a run of the KernelBench suite for KernelBench's tools: {@code eval_results.json},
 * by problem. The format has no level, so a run of several levels has a file for each, {@code
 * eval_results_level1.json} and so on. It has neither method, model nor round: if several have
 * samples of the same number, the samples of a problem are renumbered.
 */
public final class EvalResultFiles {
  /** The suites whose runs have such files: kbx's own and imported ones. */
  private static final Pattern SUITE = Pattern.compile("kernelbench(-.*)?");

  private static final Pattern NAME = Pattern.compile("eval_results(_level\\d+)?\\.json");

  private final Path out;

  /**
   * @param out the folder of all result files
   */
  public EvalResultFiles(Path out) {
    this.out = out;
  }

  /**
   * A file that a run would replace and that kbx did not write, such as KernelBench's own results.
   */
  public Optional<Path> inTheWay(String suite) {
    return covers(suite)
        ? present().stream().filter(file -> !isOurs(file)).findFirst()
        : Optional.empty();
  }

  /** Whether runs of this suite have such files. */
  static boolean covers(String suite) {
    return SUITE.matcher(suite).matches();
  }

  /** Writes the files of a run, and removes those of an earlier one that it does not replace. */
  void write(RunVerdicts verdicts) {
    Map<Integer, Map<TaskNumber, List<RunVerdicts.Entry>>> levels = levels(verdicts);
    Set<Path> written = new HashSet<>();
    levels.forEach((level, problems) -> {
      Path file = out.resolve(levels.size() == 1 ? name("") : name("_level" + level));
      AtomicFile.replace(file, writer -> write(writer, verdicts, problems));
      written.add(file);
    });
    for (Path file : present()) if (!written.contains(file) && isOurs(file)) delete(file);
  }

  private static String name(String level) {
    return "eval_results" + level + ".json";
  }

  private static Map<Integer, Map<TaskNumber, List<RunVerdicts.Entry>>> levels(
      RunVerdicts verdicts) {
    var levels = new TreeMap<Integer, Map<TaskNumber, List<RunVerdicts.Entry>>>();
    for (RunVerdicts.Entry entry : verdicts.entries()) {
      if (!covers(entry.row().suite())) continue;
      TaskNumber.of(entry.row().category(), entry.row().task())
          .ifPresent(number ->
              levels
                  .computeIfAbsent(number.level(), _ -> new TreeMap<>())
                  .computeIfAbsent(number, _ -> new ArrayList<>())
                  .add(entry));
    }
    return levels;
  }

  private static void write(
      Writer writer, RunVerdicts verdicts, Map<TaskNumber, List<RunVerdicts.Entry>> problems) {
    try (JsonGenerator generator = RunVerdicts.JSON.createGenerator(writer)) {
      generator.writeStartObject();
      problems.forEach((task, entries) -> {
        generator.writeName(String.valueOf(task.number()));
        generator.writeStartArray();
        boolean unique =
            entries.stream().map(EvalResultFiles::sample).distinct().count() == entries.size();
        for (int i = 0; i < entries.size(); i++) {
          int id = unique ? sample(entries.get(i)) : i;
          RunVerdicts.JSON.writeValue(generator, Entry.of(verdicts.whole(entries.get(i)), id));
        }
        generator.writeEndArray();
      });
      generator.writeEndObject();
    }
  }

  private static int sample(RunVerdicts.Entry entry) {
    return entry.row().sample();
  }

  private List<Path> present() {
    try (Stream<Path> files = Files.list(out)) {
      return files.filter(file -> NAME.matcher(file.getFileName().toString()).matches()).toList();
    } catch (IOException e) {
      throw new UnwritableException(out, e);
    }
  }

  /** Whether the first candidate in a file has kbx's judgement. */
  private static boolean isOurs(Path file) {
    try (JsonParser json = Json.mapper().createParser(file)) {
      int depth = 0;
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token == JsonToken.PROPERTY_NAME && depth == 4 && json.currentName().equals("kbx")) {
          return true;
        }
        if (token.isStructStart()) depth++;
        if (token.isStructEnd() && --depth == 2) return false;
      }
      return false;
    } catch (JacksonException _) {
      return false;
    }
  }

  private static void delete(Path file) {
    UnwritableException.naming(file, () -> Files.delete(file));
  }

  /**
   * One candidate in KernelBench's {@code eval_results.json}. Its tools need every field, so an
   * unknown field has the value of a failed sample and is listed in {@code unknown}.
   *
   * @param compiled it loads and compiles; true for a candidate that raises when called
   * @param correctness false for cheats and wrong results, whatever stage found them; as in
   *     KernelBench, true for one that ended while it was timed
   * @param runtime milliseconds at the published size, or -1
   */
  @JsonPropertyOrder({
    "sample_id",
    "compiled",
    "correctness",
    "metadata",
    "runtime",
    "runtime_stats"
  })
  record Entry(
      int sampleId,
      boolean compiled,
      boolean correctness,
      Metadata metadata,
      double runtime,
      RuntimeStats runtimeStats) {
    private static final double NO_RUNTIME = -1;

    /** The calls of a task with fresh values: as many as KernelBench has trials. */
    private static final String ALL_TRIALS = "(5 / 5)";

    /**
     * Device and details of the judgement.
     *
     * @param correctnessTrials null unless all are right, as judging ends at the first failure
     * @param kbx what KernelBench has no field for
     */
    @JsonPropertyOrder({"hardware", "device", "correctness_trials", "kbx"})
    record Metadata(
        String hardware, String device, @Nullable String correctnessTrials, ObjectNode kbx) {}

    /** The fields of the verdict beside those of KernelBench; results.jsonl has all of it. */
    private static final List<Field<Verdict>> SUMMARY =
        Fields.VERDICT.select(
            "source, method, model, round, sample, status, stage, precision, policy, message, rule,"
                + " evidence, flags");

    /**
     * Summary of a verdict.
     *
     * @param id the sample's number here; its original one is told if it differs, because several
     *     methods, models or rounds have a sample of that number
     * @param unknown fields beside {@code metadata} whose values are unknown
     */
    private static ObjectNode summary(Verdict v, int id, List<String> unknown) {
      ObjectNode summary = Field.json(SUMMARY, v);
      if (v.provenance().sample() == id) summary.remove("sample");
      return summary.putPOJO("unknown", unknown);
    }

    /**
     * Measurement of the runtime; empty if not measured. KernelBench also has mean, extremes and
     * deviation of single calls, which kbx does not time individually.
     *
     * @param median milliseconds, the same as the runtime
     * @param numTrials measuring rounds
     */
    @JsonPropertyOrder({"median", "num_trials"})
    record RuntimeStats(@Nullable Double median, @Nullable Integer numTrials) {
      static final RuntimeStats NONE = new RuntimeStats(null, null);

      static RuntimeStats of(SizeTiming timing) {
        return new RuntimeStats(timing.candidateMs(), timing.rounds());
      }
    }

    /**
     * The entry of a verdict, under a unique sample number.
     *
     * @param id the sample's number, unless that is taken
     */
    static Entry of(Verdict v, int id) {
      Boolean compiled = compiled(v);
      Boolean correct = v.judgement().ownRight();
      SizeTiming timing = Objects.equals(correct, true) ? timing(v) : null;
      List<String> unknown = new ArrayList<>();
      if (compiled == null) unknown.add("compiled");
      if (correct == null) unknown.add("correctness");
      if (timing == null) unknown.add("runtime");
      var metadata =
          new Metadata(
              v.judgement().device().name(),
              v.judgement().device().kind(),
              Objects.equals(correct, true) ? ALL_TRIALS : null,
              summary(v, id, List.copyOf(unknown)));
      return new Entry(
          id,
          Objects.equals(compiled, true),
          Objects.equals(correct, true),
          metadata,
          timing == null ? NO_RUNTIME : timing.candidateMs(),
          timing == null ? RuntimeStats.NONE : RuntimeStats.of(timing));
    }

    /** Whether it is correct without a runtime. */
    boolean untimed() {
      return correctness && runtime == NO_RUNTIME;
    }

    /** The timing of the only size; null if there is none or several. */
    private static @Nullable SizeTiming timing(Verdict v) {
      List<SizeTiming> sizes = v.judgement().sizes();
      return Objects.equals(v.judgement().perfOk(), true) && sizes != null && sizes.size() == 1
          ? sizes.getFirst()
          : null;
    }

    private static @Nullable Boolean compiled(Verdict v) {
      if (Objects.equals(v.judgement().callOk(), true)) return true;
      return switch (v.judgement().status()) {
        case RUNTIME_ERROR -> true;
        case REJECTED_STATIC, NO_CODE, NO_ENTRY, SYNTAX_ERROR, IMPORT_ERROR, COMPILE_ERROR -> false;
        default -> null;
      };
    }
  }
}
