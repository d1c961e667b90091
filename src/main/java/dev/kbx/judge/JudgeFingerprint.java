package dev.kbx.judge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The program that judges, as a hash of its own code. A verdict depends on it: rules,
 * classification and statistics change between builds of one version. The Python that judges has a
 * fingerprint of its own, among the versions that workers report.
 */
public final class JudgeFingerprint {
  /** Hexadecimal digits: enough to tell all builds apart. */
  private static final int DIGITS = 12;

  private JudgeFingerprint() {}

  private static final class OfThis {
    static final String VALUE = of(location());
  }

  /** Of the running program, hex; worked out once. */
  public static String ofThis() {
    return OfThis.VALUE;
  }

  /** Of a jar file or a folder of classes. */
  static String of(Path code) {
    MessageDigest digest = DigestUtils.getSha256Digest();
    try (Stream<Path> files = Files.walk(code)) {
      List<Path> sorted = files.filter(Files::isRegularFile).sorted().toList();
      for (Path file : sorted) {
        digest.update(code.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        digest.update(Files.readAllBytes(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
  }

  /**
   * Where this class was found. Not by its code source: that is null for a class that a cache made
   * elsewhere holds, as in a bundle.
   */
  private static Path location() {
    String name = JudgeFingerprint.class.getName().replace('.', '/') + ".class";
    URL own = requireNonNull(JudgeFingerprint.class.getResource("/" + name));
    try {
      if (own.openConnection() instanceof JarURLConnection jar) {
        return Path.of(jar.getJarFileURL().toURI());
      }
      String file = own.toString();
      return Path.of(URI.create(file.substring(0, file.length() - name.length())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the program's own location is a URI", e);
    }
  }
}
