package dev.kbx.cli;

import dev.kbx.app.JudgingSettings;
import dev.kbx.app.UserError;
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

  /** The cluster, if one judges. */
  Optional<JudgingSettings.Cluster> cluster() {
    if (address == null && deviceClass != null) {
      throw new UserError("--device-class: chooses among the nodes of a --cluster; give both");
    }
    if (address == null && slots != null) {
      throw new UserError("--cluster-slots: asks the autoscaler of a --cluster; give both");
    }
    if (slots != null && slots < 1) throw new UserError("--cluster-slots: must be at least 1");
    if (address == null) return Optional.empty();
    return Optional.of(
        new JudgingSettings.Cluster(
            address,
            Optional.ofNullable(deviceClass),
            slots == null ? OptionalInt.empty() : OptionalInt.of(slots)));
  }
}
