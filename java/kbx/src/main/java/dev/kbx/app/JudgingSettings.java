package dev.kbx.app;

import dev.kbx.error.InputException;
import dev.kbx.python.Interpreter;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.python.TritonEnvironment;
import dev.kbx.worker.DeviceSlot;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What judges: processes of this machine, or nodes of a cluster.
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
  /** Default maximum of slots on a GPU, so that compiling and judging overlap. */
  private static final int SHARED = 16;

  /**
   * A Ray cluster.
   *
   * @param address {@code ray://HOST:PORT}, {@code HOST:PORT} or {@code auto}
   * @param deviceClass part of the names of devices to use; empty for that of the first node
   * @param slots most GPUs or nodes to ask the autoscaler for; empty for the cluster as it is
   */
  public record Cluster(String address, Optional<String> deviceClass, OptionalInt slots) {}

  /** These settings with another source of processes. */
  JudgingSettings with(WorkerSource other) {
    return new JudgingSettings(home, other, python, device, jobs, cluster, observer);
  }

  /** These settings with another interpreter. */
  public JudgingSettings with(Interpreter other) {
    Optional<Path> executable = Optional.of(other.executable());
    return new JudgingSettings(home, workers, executable, device, jobs, cluster, observer);
  }

  /** These settings with the interpreter that has another Triton, which is installed if need be. */
  public JudgingSettings withTriton(String version) throws InterruptedException {
    return with(
        TritonEnvironment.resolve(
            version, interpreter(), System.getenv(), home.folder(), observer.installing()));
  }

  /** The slots of this machine's devices. Throws if the device is not here. */
  public List<DeviceSlot> slots() {
    return slots(device, jobs);
  }

  /** The slots of another device or number of jobs. */
  public static List<DeviceSlot> slots(String device, int jobs) {
    int processors = Runtime.getRuntime().availableProcessors();
    if (device.equals("auto")) return slots(gpus().isEmpty() ? "cpu" : "cuda", jobs);
    if (device.equals("cpu")) {
      int slots = jobs > 0 ? jobs : processors;
      return IntStream.range(0, slots).mapToObj(DeviceSlot::cpu).toList();
    }
    List<DeviceSlot> gpus = named(device);
    int each = jobs > 0 ? jobs : Math.clamp(processors / gpus.size(), 1, SHARED);
    return Collections.nCopies(each, gpus).stream().flatMap(List::stream).toList();
  }

  private static List<DeviceSlot> named(String device) {
    if (device.equals("cuda") || device.startsWith("cuda:")) needGpu(device);
    if (device.equals("cuda")) {
      return gpus().stream().map(DeviceSlot::cuda).toList();
    }
    if (device.startsWith("cuda:")) return chosen(device.substring("cuda:".length()));
    throw new InputException("--device %s: use auto, cpu, cuda or cuda:0,1".formatted(device));
  }

  private static void needGpu(String device) {
    if (gpus().isEmpty()) {
      throw new InputException(
          "--device %s: no NVIDIA GPU here (no /dev/nvidia0); use --device cpu".formatted(device));
    }
  }

  private static String listed(List<Integer> gpus) {
    return String.join(", ", gpus.stream().map(index -> "cuda:" + index).toList());
  }

  private static List<DeviceSlot> chosen(String list) {
    List<Integer> there = gpus();
    List<DeviceSlot> slots = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      int index;
      try {
        index = Integer.parseInt(part.strip());
      } catch (NumberFormatException e) {
        throw new InputException("--device cuda:%s: '%s' is no GPU number".formatted(list, part));
      }
      if (!there.contains(index)) {
        throw new InputException(
            "--device cuda:%s: no GPU %d here; there %s %s"
                .formatted(list, index, there.size() == 1 ? "is" : "are", listed(there)));
      }
      slots.add(DeviceSlot.cuda(index));
    }
    return slots;
  }

  /** Numbers of the NVIDIA GPUs whose device files exist. */
  public static List<Integer> gpus() {
    List<Integer> found = new ArrayList<>();
    if (!Files.exists(Path.of("/dev/nvidiactl"))) return found;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/dev"), "nvidia[0-9]*")) {
      for (Path file : files) {
        found.add(Integer.parseInt(file.getFileName().toString().substring("nvidia".length())));
      }
    } catch (IOException | NumberFormatException e) {
      return List.of();
    }
    found.sort(null);
    return found;
  }

  /** The interpreter of workers, which is installed if need be. */
  public Interpreter interpreter() throws InterruptedException {
    return Home.simulates()
        ? PythonEnvironment.withoutPackages(python, System.getenv())
        : PythonEnvironment.resolve(python, System.getenv(), home.folder(), observer.installing());
  }
}
