package dev.kbx.worker;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonTypeName;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Messages between referee and zygote; mirrors {@code worker/kbx/messages/zygote.py}. */
public sealed interface ZygoteMessage extends Message {
  /**
   * Referee to zygote: fork a sandboxed runner on channel {@code runner}.
   *
   * @param timed whether its calls will be timed, and so nobody asks for records of them
   * @param concurrent whether kernels of several streams run side by side in its CUDA context
   * @param loopback whether it may connect to itself
   * @param shapes whether it will run many of PyTorch's operations on shapes alone
   */
  @JsonTypeName("spawn")
  record Spawn(
      int id,
      int runner,
      String device,
      int deviceIndex,
      @Nullable String deviceUuid,
      String arch,
      @Nullable String dataAddress,
      @Nullable Integer uid,
      long memoryBytes,
      int cpuSeconds,
      int processes,
      long fileBytes,
      boolean timed,
      boolean concurrent,
      boolean loopback,
      boolean shapes)
      implements ZygoteMessage, Numbered {}

  /** The runner is ready for messages. */
  @JsonTypeName("spawned")
  record Spawned(int id, int runner, double seconds, List<Protection> protections)
      implements ZygoteMessage, Numbered {}

  /** One protection around a runner, and whether it holds on this machine. */
  record Protection(String name, boolean active, String detail) {
    public Protection {
      requireNonNull(name);
      requireNonNull(detail);
    }
  }

  /** Referee to zygote: kill a runner and everything it started; {@link Exited} follows. */
  @JsonTypeName("kill")
  record Kill(int runner) implements ZygoteMessage {}

  /** Referee to zygote: what keeps a runner's records answers to the oracle at this address. */
  @JsonTypeName("introduce")
  record Introduce(int runner, String dataAddress) implements ZygoteMessage {}

  /** Referee to zygote: how long has a runner waited for a processor? */
  @JsonTypeName("wait")
  record Wait(int id, int runner) implements ZygoteMessage, Numbered {}

  /** Since the runner was spawned; of its threads, the one that waited longest. */
  @JsonTypeName("waited")
  record Waited(int id, double seconds) implements ZygoteMessage, Numbered {}

  /** A runner's process tree has ended. */
  @JsonTypeName("exited")
  record Exited(
      int runner,
      Reason reason,
      @Nullable Integer code,
      @Nullable Integer signal,
      @Nullable Long peakBytes,
      @Nullable String detail,
      @Nullable String output)
      implements ZygoteMessage {
    public Exited {
      requireNonNull(reason);
    }

    /** How it ended. */
    public enum Reason {
      /** By itself, with an exit code. */
      EXIT,
      /** By a signal that kbx did not send. */
      SIGNAL,
      /** The runner exceeded its memory limit. */
      MEMORY,
      /** The runner wrote bytes that are not a frame. */
      PROTOCOL,
      /** The referee asked for it. */
      KILLED;

      @Override
      public String toString() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }
}
