package dev.kbx.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a command judges: on this machine, or on the nodes of a Ray cluster. */
final class ClusterOptions {
  private static final Pattern PLACE =
      Pattern.compile("(ray://)?\\[?(?<host>[^/]+?)\\]?:(?<port>\\d{1,5})");

  private static final String AUTO = "auto";

  private static final int PATIENCE_MS = 5_000;

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

  /**
   * Before Ray is installed and a bundle is made: Ray itself waits for minutes and says nothing.
   */
  void checkReachable() {
    Matcher place = PLACE.matcher(address().orElseThrow());
    if (!place.matches()) {
      if (AUTO.equals(address)) return;
      throw new UserError(
          "--cluster %s: is no address; give ray://HOST:PORT, HOST:PORT, or auto"
              .formatted(address));
    }
    int port = Integer.parseInt(place.group("port"));
    if (port > 65_535) throw new UserError("--cluster %s: no such port".formatted(address));
    try (Socket socket = new Socket()) {
      InetAddress host = InetAddress.getByName(place.group("host"));
      socket.connect(new InetSocketAddress(host, port), PATIENCE_MS);
    } catch (UnknownHostException e) {
      throw new UserError("--cluster %s: no host of that name".formatted(address));
    } catch (IOException e) {
      throw new UserError("--cluster %s: nothing answers there".formatted(address));
    }
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
