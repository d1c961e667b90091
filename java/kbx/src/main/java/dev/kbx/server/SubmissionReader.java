package dev.kbx.server;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Extraction;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.Source;
import dev.kbx.server.Acceptance.Wanted;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads candidates from the body of a request. */
final class SubmissionReader {
  private static final int MOST_CANDIDATES = 10_000;
  private static final int MOST_WORDS = 200;
  private static final String ORIGIN = "api";

  /**
   * The mapper of bodies: it refuses two members of one name, of which others may have read the
   * first.
   */
  private static final JsonMapper BODIES =
      JsonMapper.builder(
              JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
          .build();

  private static final Pattern RUN = Pattern.compile("[A-Za-z0-9._-]{1,100}");

  private final Machine machine;

  SubmissionReader(Machine machine) {
    this.machine = machine;
  }

  /**
   * What was read.
   *
   * @param problems with what could not be used
   */
  record Read(List<Wanted> wanted, List<String> problems) {}

  static JsonNode parse(byte[] body) {
    try {
      JsonNode json = BODIES.readTree(body);
      if (json.isObject()) return json;
    } catch (StreamReadException e) {
      JsonParser parser = e.processor();
      if (parser == null || !isRepeated(e)) {
        throw Refusal.of(400, "the body is no JSON: " + line(e));
      }
      String at = parser.streamReadContext().pathAsPointer().toString();
      throw Refusal.unreadable(at, "%s: is there twice".formatted(Plans.cut(at)));
    } catch (JacksonException e) {
      throw Refusal.of(400, "the body is no JSON: " + line(e));
    }
    throw Refusal.of(400, "the body must be a JSON object");
  }

  private static boolean isRepeated(StreamReadException e) {
    return String.valueOf(e.getOriginalMessage()).startsWith("Duplicate");
  }

  private static String line(JacksonException e) {
    return Plans.cut(String.valueOf(e.getOriginalMessage()).lines().findFirst().orElse(""));
  }

  /** The candidates of a JSON body. */
  Read ofJson(JsonNode body) {
    JsonNode list = body.get("candidates");
    List<Wanted> wanted = new ArrayList<>();
    if (list == null) {
      wanted.add(candidate(body, "", null));
    } else {
      String suite = word(body, "suite", "", MOST_WORDS).orElse(null);
      if (!list.isArray() || list.isEmpty() || list.size() > MOST_CANDIDATES) {
        throw Refusal.unusable(
            "/candidates", "candidates: must be a list of 1 to 10000 candidates");
      }
      for (int i = 0; i < list.size(); i++) {
        wanted.add(candidate(list.get(i), "/candidates/" + i, suite));
      }
    }
    return new Read(wanted, List.of());
  }

  private Wanted candidate(JsonNode json, String at, @Nullable String usualSuite) {
    if (!json.isObject()) throw Refusal.unusable(at, "a candidate must be an object");
    String name = word(json, "task", at, MOST_WORDS).orElse(null);
    if (name == null) throw Refusal.unusable(at + "/task", "task: is missing");
    String reply = source(json, "code", at).orElse(null);
    if (reply == null) {
      throw Refusal.unusable(at + "/code", "code: is missing, or no string");
    }
    String suite = word(json, "suite", at, MOST_WORDS).orElse(usualSuite);
    Task task = task(suite(suite, at + "/suite"), name, at + "/task");
    Candidate candidate =
        new Candidate(
            task,
            // Without its syntax tree: of a large request there would be thousands at a time.
            new Source.Text(Extraction.source(reply, task).code()),
            ORIGIN,
            Optional.ofNullable(count(json, "sample", at)).orElse(0),
            word(json, "method", at, MOST_WORDS).orElse(null),
            word(json, "model", at, MOST_WORDS).orElse(null),
            count(json, "round", at),
            conditions(json.get("conditions"), at + "/conditions"));
    return new Wanted(candidate, word(json, "key", at, MOST_WORDS).orElse(null), at);
  }

  /** A member that is a source, or a model's reply that has one; empty if it is no string. */
  static Optional<String> source(JsonNode json, String name, String at) {
    JsonNode given = json.get(name);
    if (given == null || !given.isString()) return Optional.empty();
    String text = given.stringValue();
    if (text.getBytes(StandardCharsets.UTF_8).length > CandidateSources.MAX_CODE) {
      throw Refusal.unusable(at + "/" + name, name + ": has more than 1 MiB");
    }
    if (hasLoneSurrogate(text)) {
      throw Refusal.unusable(at + "/" + name, name + ": is not valid Unicode");
    }
    return Optional.of(text);
  }

  private static boolean hasLoneSurrogate(String text) {
    return text.codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /** The client's name of a run; {@code service} without one. */
  static String run(Optional<String> given) {
    String run = given.orElse("service");
    if (RUN.matcher(run).matches()) return run;
    throw Refusal.unusable("/run", "run: must be 1 to 100 of the characters A-Z a-z 0-9 . _ -");
  }

  /** The suite of that name; the server's first without one. */
  Suite suite(@Nullable String name, String pointer) {
    return machine
        .suite(name)
        .orElseThrow(() ->
            Refusal.unusable(
                pointer,
                "suite: no suite '%s'; there are %s"
                    .formatted(
                        Plans.cut(String.valueOf(name)),
                        String.join(", ", machine.suites().keySet()))));
  }

  static Task task(Suite suite, String name, String pointer) {
    List<Task> found = suite.task(name).map(List::of).orElseGet(() -> suite.named(name));
    if (found.size() == 1) return found.getFirst();
    throw Refusal.unusable(
        pointer,
        found.isEmpty()
            ? suite.unknown(Plans.cut(name))
            : "task '%s' is in several categories; write Category/name".formatted(name));
  }

  /** A member that is a word of at most 200 characters. */
  static Optional<String> word(JsonNode json, String name, String at) {
    return word(json, name, at, MOST_WORDS);
  }

  private static Optional<String> word(JsonNode json, String name, String at, int most) {
    JsonNode given = json.get(name);
    if (given == null || given.isNull()) return Optional.empty();
    if (given.isString()) {
      String text = given.stringValue();
      if (!text.isEmpty() && text.length() <= most && !hasLoneSurrogate(text)) {
        return Optional.of(text);
      }
    }
    throw Refusal.unusable(
        at + "/" + name, "%s: must be a string of 1 to %d characters".formatted(name, most));
  }

  private static @Nullable Integer count(JsonNode json, String name, String at) {
    JsonNode given = json.get(name);
    if (given == null || given.isNull()) return null;
    if (given.isInt() && given.intValue() >= 0) return given.intValue();
    throw Refusal.unusable(at + "/" + name, name + ": must be a whole number, 0 or more");
  }

  private static Map<String, String> conditions(@Nullable JsonNode given, String at) {
    Map<String, String> conditions = new LinkedHashMap<>();
    if (given == null || given.isNull()) return conditions;
    if (!given.isObject() || given.size() > 50) {
      throw Refusal.unusable(at, "conditions: must be an object of at most 50 strings");
    }
    for (String name : given.propertyNames()) {
      if (name.length() > MOST_WORDS) throw Refusal.unusable(at, "conditions: a name is too long");
      word(given, name, at, MOST_WORDS).ifPresent(value -> conditions.put(name, value));
    }
    return conditions;
  }

  /**
   * The candidates of a file or folder, as {@code kbx eval} reads them.
   *
   * @param folder of the request, which messages and origins leave out
   * @param skip whether problems are listed; else they are refused
   */
  Read ofFiles(Path source, Path folder, Suite suite, boolean skip) {
    Reading reading = CandidateSources.read(List.of(source), suite);
    List<String> problems =
        reading.problems().stream()
            .map(Problem::toString)
            .map(text -> without(text, source, folder))
            .limit(100)
            .toList();
    if (!problems.isEmpty() && !skip) throw Refusal.unusable(problems);
    if (reading.candidates().isEmpty()) {
      throw problems.isEmpty()
          ? Refusal.of(422, "there is no candidate in it")
          : Refusal.unusable(problems);
    }
    if (reading.candidates().size() > MOST_CANDIDATES) {
      throw Refusal.of(
          422,
          "it has %d candidates; at most 10000 at a time".formatted(reading.candidates().size()));
    }
    return new Read(
        reading.candidates().stream()
            .map(each -> new Wanted(renamed(each, source, folder), null, ""))
            .toList(),
        problems);
  }

  /**
   * The path as the client knows it: a path of this machine tells where the server keeps its files.
   */
  private static String without(String text, Path source, Path folder) {
    return text.replace(source + "/", "")
        .replace(folder + "/", "")
        .replace(source.toString(), "the archive")
        .replace(folder.toString(), "the request");
  }

  private static Candidate renamed(Candidate candidate, Path source, Path folder) {
    Candidate held = candidate.held();
    return new Candidate(
        held.task(),
        new Source.Text(held.code()),
        without(held.origin(), source, folder),
        held.sample(),
        held.method(),
        held.model(),
        held.round(),
        held.conditions());
  }
}
