package dev.kbx.method;

import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.llm.ChatRequest.Message.Role;
import dev.kbx.method.ProgramAnswer.Candidate;
import dev.kbx.method.ProgramAnswer.Done;
import dev.kbx.method.ProgramAnswer.Prompt;
import dev.kbx.method.ProgramAnswer.Reported;
import dev.kbx.verdict.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Reads the lines of external programs. */
public final class ProgramAnswers {
  private static final int LONGEST_ID = 100;

  /** Longest candidate, in characters. */
  public static final int LONGEST_CODE = 1 << 20;

  private static final int MOST_STEPS = 1000;

  /** Requests or tokens, and USD, that one answer may report; sums of them stay exact. */
  private static final double MOST_REPORTED = 1e12;

  private final Set<String> used;
  private final Set<String> kernels;

  /** A line is not an answer; the message says why, without the program. */
  public static final class Invalid extends Exception {
    private static final long serialVersionUID = 1;

    Invalid(String message) {
      super(message);
    }
  }

  /**
   * @param used ids of earlier prompts and candidates
   * @param kernels those of them that led to a kernel
   */
  public ProgramAnswers(Set<String> used, Set<String> kernels) {
    this.used = new HashSet<>(used);
    this.kernels = Set.copyOf(kernels);
  }

  /** The answer in a line. */
  public ProgramAnswer read(String line) throws Invalid {
    JsonNode node = json(line);
    refuseUnknown("the line", node, Set.of("ask", "judge", "done", "usage"));
    List<Prompt> ask = new ArrayList<>();
    for (JsonNode each : list(node, "ask")) ask.add(prompt(each));
    List<Candidate> judge = new ArrayList<>();
    for (JsonNode each : list(node, "judge")) judge.add(candidate(each));
    ProgramAnswer answer = new ProgramAnswer(ask, judge, done(node.get("done")), usage(node));
    boolean works = !ask.isEmpty() || !judge.isEmpty();
    if (works == (answer.done() != null)) {
      throw new Invalid(
          works
              ? "has both work and \"done\"; say \"done\" alone"
              : "has no \"ask\", \"judge\" or \"done\"; one of them is needed");
    }
    if (ask.size() + judge.size() > MOST_STEPS) {
      throw new Invalid("has more than %d prompts and candidates".formatted(MOST_STEPS));
    }
    return answer;
  }

  private static JsonNode json(String line) throws Invalid {
    try {
      JsonNode node = Json.mapper().readTree(line);
      if (node.isObject()) return node;
    } catch (JacksonException e) {
      throw new Invalid("is no JSON");
    }
    throw new Invalid("is no JSON object");
  }

  private static List<JsonNode> list(JsonNode node, String key) throws Invalid {
    JsonNode value = node.get(key);
    if (value == null || value.isNull()) return List.of();
    if (value.isArray()) return value.valueStream().toList();
    throw new Invalid("has \"%s\" that is not a list".formatted(key));
  }

  private Prompt prompt(JsonNode node) throws Invalid {
    refuseUnknown("a prompt", node, Set.of("id", "messages", "kernel", "judge", "temperature"));
    String id = id(node);
    List<Message> messages = new ArrayList<>();
    for (JsonNode each : list(node, "messages")) messages.add(message(id, each));
    if (messages.isEmpty()) throw new Invalid("%s: has no messages".formatted(id));
    boolean kernel = flag(node, "kernel", true);
    return new Prompt(
        id, messages, kernel, kernel && flag(node, "judge", true), temperature(id, node));
  }

  private static @Nullable Double temperature(String id, JsonNode node) throws Invalid {
    JsonNode temperature = node.get("temperature");
    if (temperature == null || temperature.isNull()) return null;
    double value = value(temperature);
    if (value >= 0 && Double.isFinite(value)) return value;
    throw new Invalid("%s: \"temperature\" is not a number from 0".formatted(id));
  }

  /** Not a number for all else; infinite where a number is too large. */
  private static double value(JsonNode node) {
    return node.isNumber() ? node.numberValue().doubleValue() : Double.NaN;
  }

  private static Message message(String id, JsonNode node) throws Invalid {
    Map<String, Role> roles =
        Stream.of(Role.values())
            .collect(Collectors.toMap(role -> role.name().toLowerCase(Locale.ROOT), role -> role));
    Role role = roles.get(node.path("role").asString(""));
    JsonNode text = node.path("text");
    if (role == null || !text.isString()) {
      throw new Invalid(
          "%s: a message needs \"role\" (system, user or assistant) and \"text\"".formatted(id));
    }
    return new Message(role, text.asString());
  }

  private Candidate candidate(JsonNode node) throws Invalid {
    refuseUnknown("a candidate", node, Set.of("id", "code"));
    String id = id(node);
    JsonNode code = node.path("code");
    if (!code.isString() || code.asString().isBlank()) {
      throw new Invalid("%s: has no \"code\"".formatted(id));
    }
    if (code.asString().length() > LONGEST_CODE) {
      throw new Invalid("%s: its code has more than 1 MiB".formatted(id));
    }
    return new Candidate(id, code.asString());
  }

  private String id(JsonNode node) throws Invalid {
    JsonNode id = node.path("id");
    String text = id.isString() ? id.asString() : "";
    if (text.isBlank() || text.length() > LONGEST_ID || !text.matches("[\\x20-\\x7e]+")) {
      throw new Invalid(
          "a prompt and a candidate need an \"id\" of 1 to %d ASCII characters"
              .formatted(LONGEST_ID));
    }
    if (!used.add(text)) throw new Invalid("the id \"%s\" was used before".formatted(text));
    return text;
  }

  private static boolean flag(JsonNode node, String key, boolean otherwise) throws Invalid {
    JsonNode value = node.get(key);
    if (value == null) return otherwise;
    if (value.isBoolean()) return value.asBoolean();
    throw new Invalid("\"%s\" is neither true nor false".formatted(key));
  }

  private @Nullable Done done(@Nullable JsonNode node) throws Invalid {
    if (node == null || node.isNull()) return null;
    if (!node.isObject()) throw new Invalid("\"done\" is not an object; write {} or {\"id\": …}");
    refuseUnknown("\"done\"", node, Set.of("id"));
    JsonNode id = node.get("id");
    if (id == null || id.isNull()) return new Done(null);
    if (id.isString() && kernels.contains(id.asString())) return new Done(id.asString());
    throw new Invalid("\"done\" names %s, which led to no kernel".formatted(id));
  }

  private static @Nullable Reported usage(JsonNode node) throws Invalid {
    JsonNode usage = node.get("usage");
    if (usage == null || usage.isNull()) return null;
    if (!usage.isObject()) throw new Invalid("\"usage\" is not an object; write {\"calls\": 1}");
    Set<String> known = new TreeSet<>(Set.of("calls", "input", "output", "usd"));
    refuseUnknown("\"usage\"", usage, known);
    for (String key : known) {
      JsonNode given = usage.get(key);
      if (given == null) continue;
      double value = value(given);
      boolean whole = key.equals("usd") || value == Math.rint(value);
      if (value >= 0 && value <= MOST_REPORTED && whole) continue;
      throw new Invalid(
          "\"usage\" has a \"%s\" that is not a %s from 0 to 10^12"
              .formatted(key, key.equals("usd") ? "number" : "whole number"));
    }
    return new Reported(
        usage.path("calls").asLong(0),
        usage.has("input") ? Long.valueOf(usage.path("input").asLong()) : null,
        usage.has("output") ? Long.valueOf(usage.path("output").asLong()) : null,
        usage.has("usd") ? Double.valueOf(usage.path("usd").asDouble()) : null);
  }

  private static void refuseUnknown(String what, JsonNode node, Set<String> known) throws Invalid {
    for (String key : node.propertyNames()) {
      if (known.contains(key)) continue;
      throw new Invalid(
          "%s has an unknown \"%s\"; known: %s"
              .formatted(what, key, String.join(", ", new TreeSet<>(known))));
    }
  }
}
