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
 * A message of the protocol; mirrors {@code worker/kbx/messages}. {@code docs/protocol.md} says who
 * sends what. Messages common to all peers are here, the others in a type for each peer.
 *
 * <p>A request has an {@code id}, which the reply repeats. Times are seconds, sizes are bytes.
 * Value trees (arguments and results) are passed on unread.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonInclude(JsonInclude.Include.NON_NULL)
public sealed interface Message
    permits Message.Hello, Message.Compiling, Message.Numbered, ZygoteMessage {

  /** Version of the protocol; a worker with another version is refused. */
  int PROTOCOL = 9;

  /** A request, or the answer to the request of the same id. */
  sealed interface Numbered extends Message
      permits Failed,
          RunnerMessage,
          OracleMessage,
          ZygoteMessage.Spawn,
          ZygoteMessage.Spawned,
          ZygoteMessage.Wait,
          ZygoteMessage.Waited {
    int id();
  }

  /** First frame of an oracle or zygote, sent unasked. */
  @JsonTypeName("hello")
  record Hello(
      int protocol,
      String role,
      long pid,
      Map<String, String> versions,
      @Nullable Map<String, JsonNode> device,
      @Nullable String dataAddress,
      @Nullable String lacks,
      @Nullable List<String> absent)
      implements Message {
    public Hello {
      absent = absent == null ? null : List.copyOf(absent);
    }

    /** The GPU's name by its driver; null elsewhere. */
    public @Nullable String deviceName() {
      return said("name");
    }

    /** The GPU's UUID, which unlike its index is the same in every process; null elsewhere. */
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

    /** Memory of the GPU's machine that workers may use; null elsewhere. */
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

  /** From a runner, unasked: Triton begins to compile, or has ended. */
  @JsonTypeName("compiling")
  record Compiling(boolean begun) implements Message {}

  /** A trusted process could not serve a request. */
  @JsonTypeName("failed")
  record Failed(
      int id, Reason reason, String message, @Nullable String file, @Nullable Integer line)
      implements Numbered {
    public Failed {
      requireNonNull(reason);
      requireNonNull(message);
    }

    /** Reason of the failure. */
    public enum Reason {
      /** The task file is wrong. */
      INVALID_TASK,
      /** The device cannot do the work. */
      UNSUPPORTED,
      /** The device has too little memory now. */
      MEMORY,
      INTERNAL
    }
  }

  /**
   * Arguments for constructing a class that stands in for a task's model.
   *
   * @param init its constructor's arguments
   * @param seed seed of its weights
   * @param dtype what they are cast to; null if they are not
   * @param differentiates whether calls compute gradients; null if they do not
   * @param backward what is differentiated where the gradients of the model's results are wanted
   */
  record Module(
      List<JsonNode> init,
      long seed,
      @Nullable String dtype,
      @Nullable Boolean differentiates,
      @Nullable JsonNode backward) {
    public Module {
      init = List.copyOf(init);
    }

    /** This module in another dtype. */
    public Module in(String other) {
      return new Module(init, seed, other, differentiates, backward);
    }
  }
}
