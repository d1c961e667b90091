package dev.kbx.worker;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A message of the protocol, mirroring {@code worker/kbx/messages}; {@code docs/protocol.md} says
 * who sends what. Here is what every peer says; the rest is with the one that is spoken to.
 *
 * <p>Requests carry an {@code id} that the reply repeats. Times are seconds, sizes are bytes. Value
 * trees (arguments and results) are passed on unread: they are the oracle's business.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonInclude(JsonInclude.Include.NON_NULL)
public sealed interface Message permits Message.Hello, Message.Numbered, ZygoteMessage {

  /** Version of the protocol; a worker that says another is refused. */
  int PROTOCOL = 4;

  /** A message that asks, or answers the request of the same id. */
  sealed interface Numbered extends Message
      permits Failed, RunnerMessage, OracleMessage, ZygoteMessage.Spawn, ZygoteMessage.Spawned {
    int id();
  }

  /** First frame of oracle and zygote, unasked. */
  @JsonTypeName("hello")
  record Hello(
      int protocol,
      String role,
      long pid,
      Map<String, String> versions,
      @Nullable Map<String, JsonNode> device,
      @Nullable String dataAddress,
      @Nullable String lacks)
      implements Message {
    /**
     * The GPU's own name, which unlike its index means the same to every process; null elsewhere.
     */
    public @Nullable String deviceUuid() {
      return said("uuid");
    }

    /** The GPU driver's version; null elsewhere. */
    public @Nullable String deviceDriver() {
      return said("driver");
    }

    /** The GPU's memory in bytes; null elsewhere. */
    public @Nullable Long deviceBytes() {
      return bytes("memory_bytes");
    }

    /** Memory of the machine that the GPU is in, as far as workers may have it; null elsewhere. */
    public @Nullable Long hostBytes() {
      return bytes("host_bytes");
    }

    private @Nullable Long bytes(String key) {
      JsonNode value = device == null ? null : device.get(key);
      return value == null || !value.isNumber() ? null : value.asLong();
    }

    private @Nullable String said(String key) {
      JsonNode value = device == null ? null : device.get(key);
      return value == null || value.isNull() ? null : value.asString();
    }
  }

  /** A trusted process could not serve a request. */
  @JsonTypeName("failed")
  record Failed(
      int id, Reason reason, String message, @Nullable String file, @Nullable Integer line)
      implements Numbered {
    public Failed {
      requireNonNull(reason);
      requireNonNull(message);
    }

    /** Why it could not. */
    public enum Reason {
      /** The task file is wrong. */
      INVALID_TASK,
      /** This device cannot do it. */
      UNSUPPORTED,
      /** The device has too little memory now. */
      MEMORY,
      INTERNAL
    }
  }

  /**
   * What a class that stands in for a task's model is constructed with.
   *
   * @param init its constructor's arguments
   * @param seed of its weights
   */
  record Module(List<JsonNode> init, long seed) {
    public Module {
      init = List.copyOf(init);
    }
  }
}
