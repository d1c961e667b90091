package dev.kbx.cli;

import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a command judges: on this machine, or on the nodes of a Ray cluster. */
final class ClusterOptions {
  @Option(
      names = "--cluster",
      paramLabel = "ADDRESS",
      description =
          "Judge on the nodes of a Ray cluster: ray://HOST:PORT, HOST:PORT, or auto for the one"
              + " that this machine belongs to. --device and --jobs are then each node's.")
  private @Nullable String address;

  @Option(
      names = "--device-class",
      paramLabel = "NAME",
      description =
          "With --cluster: judge only on devices with this in their name, such as H100. Default:"
              + " that of the first node.")
  private @Nullable String deviceClass;

  @Option(
      names = "--cluster-slots",
      paramLabel = "N",
      description =
          "With --cluster on a cluster that scales: ask its autoscaler for as many GPUs as have"
              + " work (without GPUs: nodes), N at most, and give back those that are idle."
              + " Default: the cluster as it is.")
  private @Nullable Integer slots;

  /** The address, if a cluster judges. */
  Optional<String> address() {
    if (address == null && deviceClass != null) {
      throw new UserError("--device-class: chooses among the nodes of a --cluster; give both");
    }
    if (address == null && slots != null) {
      throw new UserError("--cluster-slots: asks the autoscaler of a --cluster; give both");
    }
    return Optional.ofNullable(address);
  }

  OptionalInt slots() {
    if (slots == null) return OptionalInt.empty();
    if (slots < 1) throw new UserError("--cluster-slots: must be at least 1");
    return OptionalInt.of(slots);
  }

  Optional<String> deviceClass() {
    return Optional.ofNullable(deviceClass);
  }
}
