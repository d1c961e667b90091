package dev.kbx.device;

import dev.kbx.error.EnvironmentException;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.WorkerFailure;

/** A device no longer computes. Its candidates move to another device if one is left. */
public final class DeviceLost extends EnvironmentException {
  private static final long serialVersionUID = 1;

  public DeviceLost(String message) {
    super(message);
  }

  public DeviceLost(Verdict.Device device, WorkerFailure why) {
    super("%s no longer computes: %s".formatted(device.name(), why.getMessage()), why);
  }
}
