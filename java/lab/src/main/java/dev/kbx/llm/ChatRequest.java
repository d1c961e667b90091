package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One question to a model.
 *
 * @param model as {@code --model} names it
 * @param messages at least one
 * @param sample tells repeated requests with equal messages apart; part of the key, not sent
 * @param place where in a run it is asked: method, task, sample and ask. A ledger that has no reply
 *     to exactly this request, as numbers in the messages differ from run to run, answers by it.
 *     Neither sent nor part of the key; empty if there is none
 * @param stable how many first characters of the last message other requests of the run have, too,
 *     with all messages before it: a provider may keep them. Not part of the key; 0 if unknown
 */
public record ChatRequest(
    String model,
    Parameters parameters,
    List<Message> messages,
    int sample,
    String place,
    int stable) {
  /** One message of a conversation. */
  public record Message(Role role, String text) {
    /** Who says it. */
    public enum Role {
      SYSTEM,
      USER,
      ASSISTANT;

      /** The name on the wire. */
      public String label() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }

  /**
   * What a request asks for; null means the provider's default.
   *
   * @param temperature 0 or more
   * @param topP above 0, at most 1
   * @param maxTokens limit of the reply, including its reasoning
   * @param reasoningEffort in the provider's words, as {@code low} or {@code high}
   * @param seed for providers that have one
   */
  @JsonInclude
  public record Parameters(
      @Nullable Double temperature,
      @Nullable Double topP,
      @Nullable Integer maxTokens,
      @Nullable String reasoningEffort,
      @Nullable Long seed) {
    public Parameters {
      if (temperature != null && !(temperature >= 0 && Double.isFinite(temperature))) {
        throw new IllegalArgumentException("temperature " + temperature + ": 0 or more");
      }
      if (topP != null && !(topP > 0 && topP <= 1)) {
        throw new IllegalArgumentException("top_p " + topP + ": above 0, at most 1");
      }
      if (maxTokens != null && maxTokens < 1) {
        throw new IllegalArgumentException("max_tokens " + maxTokens + ": 1 or more");
      }
    }

    /** All left to the provider. */
    public static Parameters defaults() {
      return new Parameters(null, null, null, null, null);
    }
  }

  /** A request outside of a run. */
  public ChatRequest(String model, Parameters parameters, List<Message> messages, int sample) {
    this(model, parameters, messages, sample, "", 0);
  }

  public ChatRequest {
    messages = List.copyOf(messages);
    if (messages.isEmpty()) throw new IllegalArgumentException("a request without messages");
    if (sample < 0) throw new IllegalArgumentException("sample " + sample + ": 0 or more");
    stable = Math.clamp(stable, 0, messages.getLast().text().length());
  }

  /**
   * SHA-256, in hexadecimal, of the canonical JSON of this request: keys in alphabetical order,
   * parameters that are null left out, no white space, UTF-8.
   */
  public String key() {
    return DigestUtils.sha256Hex(JsonText.write(document()).getBytes(StandardCharsets.UTF_8));
  }

  /** The place of an ask of a trajectory. */
  public static String place(String method, String task, int sample, String ask) {
    return "%s, %s, sample %d, %s".formatted(method, task, sample, ask);
  }

  /** Length of all messages in characters. */
  long characters() {
    return messages.stream().mapToLong(message -> message.text().length()).sum();
  }

  /** This question to a model of another name. */
  ChatRequest to(String other) {
    return new ChatRequest(other, parameters, messages, sample, place, stable);
  }

  /** The canonical document: every put is in alphabetical order. */
  ObjectNode document() {
    ObjectNode document = JsonText.object();
    ArrayNode list = document.putArray("messages");
    for (Message message : messages) {
      list.addObject().put("role", message.role().label()).put("text", message.text());
    }
    document.put("model", model);
    ObjectNode asked = document.putObject("parameters");
    if (parameters.maxTokens() != null) asked.put("max_tokens", parameters.maxTokens());
    if (parameters.reasoningEffort() != null) {
      asked.put("reasoning_effort", parameters.reasoningEffort());
    }
    if (parameters.seed() != null) asked.put("seed", parameters.seed());
    if (parameters.temperature() != null) asked.put("temperature", parameters.temperature());
    if (parameters.topP() != null) asked.put("top_p", parameters.topP());
    document.put("sample", sample);
    return document;
  }
}
