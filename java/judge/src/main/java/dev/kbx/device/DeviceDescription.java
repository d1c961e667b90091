package dev.kbx.device;

import dev.kbx.verdict.Verdict;
import dev.kbx.worker.Message;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Describes a device for verdicts. */
public final class DeviceDescription {
  private DeviceDescription() {}

  /** Converts an oracle's greeting. */
  public static Verdict.Device of(Message.Hello hello) {
    Map<String, JsonNode> said = hello.device() == null ? Map.of() : hello.device();
    return new Verdict.Device(
        text(said, "kind", "cpu"),
        text(said, "name", "unknown"),
        optional(said, "uuid"),
        optional(said, "driver"),
        optional(said, "arch"));
  }

  private static String text(Map<String, JsonNode> said, String key, String otherwise) {
    String value = optional(said, key);
    return value == null ? otherwise : value;
  }

  private static @Nullable String optional(Map<String, JsonNode> said, String key) {
    JsonNode value = said.get(key);
    return value == null || value.isNull() ? null : value.asString();
  }
}
