package dev.kbx.cluster;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import java.util.List;

/** A message to or from the bridge itself, on channel 0. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
sealed interface BridgeMessage {

  /** The nodes of the cluster, when they or their slots have changed. */
  @JsonTypeName("nodes")
  record Nodes(List<Node> nodes) implements BridgeMessage {
    public Nodes {
      nodes = List.copyOf(nodes);
    }
  }

  /**
   * A living node.
   *
   * @param slots that judge there once they are up, or compile
   * @param up those whose kbx has been started
   * @param compiles whether they only compile, since others have the GPUs
   */
  record Node(String id, String address, int cpus, int gpus, int slots, int up, boolean compiles) {
    /** Whether anything may be judged there. */
    boolean judges() {
      return slots > 0 && !compiles;
    }
  }

  /**
   * A slot's kbx has been started; its frames come on the channel of the slot's number.
   *
   * @param compiles as of its node
   */
  @JsonTypeName("slot_up")
  record SlotUp(int slot, String node, String address, boolean compiles) implements BridgeMessage {}

  /** A slot is gone: its kbx, its actor or its node ended. Another number takes its place. */
  @JsonTypeName("slot_down")
  record SlotDown(int slot, String node, String address, String why) implements BridgeMessage {}

  /** To the bridge: end this slot, and start another in its place. */
  @JsonTypeName("drop")
  record Drop(int slot) implements BridgeMessage {}

  /**
   * To the bridge: this many slots have work. As many are asked of the cluster's autoscaler, and
   * started where they fit.
   */
  @JsonTypeName("want")
  record Want(int slots) implements BridgeMessage {}

  /** To the bridge: end this slot, which is idle; another starts only if more are wanted. */
  @JsonTypeName("release")
  record Release(int slot) implements BridgeMessage {}

  /** To the bridge: end all slots of a node, and start none there. */
  @JsonTypeName("block")
  record Block(String node) implements BridgeMessage {}
}
