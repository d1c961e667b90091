package dev.kbx.app;

import dev.kbx.python.Interpreter;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.python.PythonProblem;
import dev.kbx.worker.DeviceSlot;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Who judges: processes of this machine, or nodes of a cluster.
 *
 * @param workers gives and takes back this machine's processes
 * @param python interpreter with torch and triton; empty for the one that kbx finds or installs
 * @param device {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:0,1}
 * @param jobs candidates judged at the same time on the CPU or on each GPU; 0 for the default
 * @param cluster null for this machine
 */
public record JudgingSettings(
    Home home,
    WorkerSource workers,
    Optional<Path> python,
    String device,
    int jobs,
    @Nullable Cluster cluster,
    Observer observer) {
  /**
   * A Ray cluster.
   *
   * @param address {@code ray://HOST:PORT}, {@code HOST:PORT} or {@code auto}
   * @param deviceClass part of the names of devices to use; empty for that of the first node
   * @param slots most GPUs or nodes to ask the autoscaler for; empty for the cluster as it is
   */
  public record Cluster(String address, Optional<String> deviceClass, OptionalInt slots) {}

  /** The same with another source of processes. */
  JudgingSettings with(WorkerSource other) {
    return new JudgingSettings(home, other, python, device, jobs, cluster, observer);
  }

  /** The slots of this machine's devices. */
  public List<DeviceSlot> slots() {
    return Devices.slots(device, jobs);
  }

  /** The interpreter of workers, which is installed if need be. */
  public Interpreter interpreter() throws PythonProblem, InterruptedException {
    return Home.simulates()
        ? PythonEnvironment.withoutPackages(python, System.getenv())
        : PythonEnvironment.resolve(python, System.getenv(), home.folder(), observer.installing());
  }
}
