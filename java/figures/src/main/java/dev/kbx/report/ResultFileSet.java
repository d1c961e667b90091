package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.VerdictRow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * The part of a run in one set of KernelBenchX's result files: the answers of one method and model.
 *
 * @param name the part of its file names before {@code .json}: empty if the run has one submission,
 *     else {@code .method.model}; see {@link #escape}
 * @param entries the last round of each sample; only of sample 0 if there are several submissions
 */
record ResultFileSet(String name, List<RunVerdicts.Entry> entries) {
  /** Maximum characters of a part of a name; longer ones end in a hash. */
  private static final int LONGEST = 80;

  private static final int HASH = 16;

  /** Stands for a missing method or model. */
  private static final String NONE = "none";

  /** A method or model with that name. */
  private static final String NAMED_NONE = "%6Eone";

  /** All submissions of a run, by method and model; one if it has no candidate. */
  static List<ResultFileSet> of(List<RunVerdicts.Entry> entries) {
    Map<MethodAndModel, List<RunVerdicts.Entry>> makers =
        entries.stream()
            .collect(
                Collectors.groupingBy(
                    entry -> MethodAndModel.of(entry.row()), TreeMap::new, Collectors.toList()));
    if (makers.size() < 2) return List.of(new ResultFileSet("", lastRounds(entries)));
    boolean methods = makers.keySet().stream().anyMatch(maker -> maker.method() != null);
    boolean models = makers.keySet().stream().anyMatch(maker -> maker.model() != null);
    return makers.entrySet().stream()
        .map(maker -> {
          String method = methods ? "." + part(maker.getKey().method(), false) : "";
          String model = models ? "." + part(maker.getKey().model(), true) : "";
          List<RunVerdicts.Entry> firsts =
              maker.getValue().stream().filter(entry -> entry.row().sample() == 0).toList();
          return new ResultFileSet(method + model, lastRounds(firsts));
        })
        .toList();
  }

  /** One for each task and sample: the one of the highest round. */
  private static List<RunVerdicts.Entry> lastRounds(List<RunVerdicts.Entry> entries) {
    Map<String, RunVerdicts.Entry> last = new LinkedHashMap<>();
    for (RunVerdicts.Entry entry : entries) {
      last.merge(
          entry.row().name(), entry, (one, other) -> round(other) >= round(one) ? other : one);
    }
    return List.copyOf(last.values());
  }

  private static int round(RunVerdicts.Entry entry) {
    return Objects.requireNonNullElse(entry.row().round(), -1);
  }

  private static String part(@Nullable String name, boolean dots) {
    if (name == null) return NONE;
    return name.equals(NONE) ? NAMED_NONE : escape(name, dots);
  }

  /**
   * A name as a part of a file's name; no two names give the same part. ASCII letters, digits,
   * {@code -} and {@code _} stay, and dots in models ({@code qwen2.5}). Every other character is
   * {@code %} and two hex digits for each byte of its UTF-8 form, as in URLs; half a character,
   * which has none, is {@code %u} and its number. What gets longer than 80 characters is cut there
   * and ends in {@code ~} and a hash.
   */
  private static String escape(String name, boolean dots) {
    StringBuilder escaped = new StringBuilder();
    for (int c : name.codePoints().toArray()) {
      if (stays(c) || (dots && c == '.')) {
        escaped.append((char) c);
      } else if (Character.getType(c) == Character.SURROGATE) {
        escaped.append("%%u%04X".formatted(c));
      } else {
        for (byte b : Character.toString(c).getBytes(UTF_8)) {
          escaped.append("%%%02X".formatted(b));
        }
      }
    }
    if (escaped.length() <= LONGEST) return escaped.toString();
    String hash = DigestUtils.sha256Hex(escaped.toString()).substring(0, HASH);
    return escaped.substring(0, LONGEST) + "~" + hash;
  }

  private static boolean stays(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_';
  }

  /** {@code metrics.json}, or with several submissions {@code metrics.zero-shot.gpt.json}. */
  String metrics() {
    return "metrics" + name + ".json";
  }

  /** {@code summary.json}, likewise. */
  String summary() {
    return "summary" + name + ".json";
  }

  List<VerdictRow> rows() {
    return entries.stream().map(RunVerdicts.Entry::row).toList();
  }
}
