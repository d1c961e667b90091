package dev.kbx.worker;

/**
 * Where oracles and runners work.
 *
 * @param kind what the device is
 * @param index number of the GPU; 0 on the CPU
 * @param uid user id that runners drop to when kbx runs as root. On a GPU the oracle drops to it as
 *     well: CUDA IPC maps a segment only between processes of one user.
 */
public record DeviceSlot(Kind kind, int index, int uid) {
  /**
   * First of the user ids that runners get; beyond what distributions give to people and services.
   */
  private static final int FIRST_UID = 61_000;

  /** What a slot computes on. */
  public enum Kind {
    CPU,
    CUDA;

    /** {@code cpu} or {@code cuda}, as workers say it. */
    public String label() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** A user id of the slot that none of its runners gets. */
  int ownUid() {
    return uid + 1000;
  }

  /**
   * CPU slot number {@code index}: a user id of its own, so that slots cannot signal or starve each
   * other.
   */
  public static DeviceSlot cpu(int index) {
    return new DeviceSlot(Kind.CPU, index, FIRST_UID + index);
  }

  /** GPU number {@code index}. */
  public static DeviceSlot cuda(int index) {
    return new DeviceSlot(Kind.CUDA, index, FIRST_UID + 500 + index);
  }

  /** Work for this slot that must not reach its GPU. */
  public DeviceSlot withoutGpu() {
    return new DeviceSlot(Kind.CPU, index, FIRST_UID + 900 + index);
  }
}
