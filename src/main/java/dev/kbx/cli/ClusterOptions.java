package dev.kbx.cli;

import java.util.Optional;
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

  /** The address, if a cluster judges. */
  Optional<String> address() {
    if (address == null && deviceClass != null) {
      throw new UserError("--device-class: chooses among the nodes of a --cluster; give both");
    }
    return Optional.ofNullable(address);
  }

  Optional<String> deviceClass() {
    return Optional.ofNullable(deviceClass);
  }
}
