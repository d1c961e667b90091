package dev.kbx.cli;

import dev.kbx.cluster.Shipment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The bundle that a cluster's nodes run, made once for each state of this kbx and kept in {@code
 * .kbx/cluster}.
 */
final class ClusterBundle {
  private static final List<String> SOURCES =
      List.of("target/kbx.jar", "runtime/release", "app/kbx.jar", "kbx", "worker/kbx", "tasks");

  private static final int DIGITS = 12;

  private ClusterBundle() {}

  static Shipment shipment() throws IOException, InterruptedException {
    Path home = Home.folder();
    Bundle bundle = new Bundle(home, Version.number(), System.err);
    Path folder = Home.state().resolve("cluster").resolve(fingerprint(home));
    Path archive = folder.resolve(bundle.name() + ".tar.gz");
    if (!Files.exists(archive)) {
      System.err.println("kbx: making the bundle for the nodes (once)");
      Path draft = Files.createTempDirectory(Files.createDirectories(folder), ".draft");
      Path made =
          Files.isDirectory(home.resolve("runtime"))
              ? bundle.repack(draft)
              : bundle.makeQuickly(draft);
      Files.move(made, archive);
      Files.delete(draft);
    }
    return new Shipment(home, archive, bundle.name());
  }

  /** Changes with whatever is in a bundle and matters to judging. */
  private static String fingerprint(Path home) throws IOException {
    MessageDigest digest = DigestUtils.getSha256Digest();
    for (String source : SOURCES) {
      Path path = home.resolve(source);
      if (!Files.exists(path)) continue;
      try (Stream<Path> files = Files.walk(path)) {
        for (Path file : files.filter(ClusterBundle::counts).sorted().toList()) {
          digest.update(home.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
          digest.update(Files.readAllBytes(file));
        }
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
    }
    return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
  }

  private static boolean counts(Path file) {
    return Files.isRegularFile(file) && !file.toString().contains("__pycache__");
  }
}
