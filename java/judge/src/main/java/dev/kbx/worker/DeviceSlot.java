package dev.kbx.worker;

/**
 * The device and user id under which oracles and runners of a slot work.
 *
 * @param kind what the device is
 * @param index number of the GPU; 0 on the CPU
 * @param uid user id that runners drop to when kbx runs as root. On a GPU the oracle uses it, too:
 *     CUDA IPC maps a segment only between processes of one user.
 */
public record DeviceSlot(Kind kind, int index, int uid) {
  /** First user id of runners; above the range that distributions use for people and services. */
  private static final int FIRST_UID = 61_000;

  /** Kind of device. */
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
   * CPU slot number {@code index}, with its own user id, so that slots cannot signal or starve each
   * other.
   */
  public static DeviceSlot cpu(int index) {
    return new DeviceSlot(Kind.CPU, index, FIRST_UID + index);
  }

  /** GPU number {@code index}. */
  public static DeviceSlot cuda(int index) {
    return new DeviceSlot(Kind.CUDA, index, FIRST_UID + 500 + index);
  }

  /** This slot, for work that must not use its GPU. */
  public DeviceSlot withoutGpu() {
    return new DeviceSlot(Kind.CPU, index, FIRST_UID + 900 + index);
  }
}
