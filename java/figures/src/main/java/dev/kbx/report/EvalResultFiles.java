package dev.kbx.report;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.TaskNumber;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

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
          RunVerdicts.JSON.writeValue(generator, EvalResult.of(verdicts.whole(entries.get(i)), id));
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
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    }
  }
}
