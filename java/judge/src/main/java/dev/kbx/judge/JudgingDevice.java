package dev.kbx.judge;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.Locale;
import tools.jackson.databind.node.ObjectNode;

/**
 * A device, and whether it judges.
 *
 * @param device of one that has not reported its name, where it is: {@code cuda:1}
 */
public record JudgingDevice(Verdict.Device device, State state) {
  /** The device in JSON, with its state. */
  public ObjectNode json() {
    ObjectNode json = Json.mapper().valueToTree(device);
    return json.put("state", state.label());
  }

  /** Whether a device judges. */
  public enum State {
    READY,
    /** The processes of the device start when they are needed. */
    NOT_STARTED,
    /** The device gets no more candidates. */
    LOST;

    /** The state in words. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }
}
