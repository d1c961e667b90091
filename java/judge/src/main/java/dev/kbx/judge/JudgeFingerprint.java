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
 * A hash of the Java code that judges. Verdicts depend on it, since rules, classification and
 * statistics change between builds of one version. The Python side has its own fingerprint, which
 * workers report among their versions.
 */
public final class JudgeFingerprint {
  /** Number of hexadecimal digits. */
  private static final int DIGITS = 12;

  private JudgeFingerprint() {}

  private static final class OfThis {
    static final String VALUE = of(location());
  }

  /** Fingerprint of the running program, in hex; computed once. */
  public static String ofThis() {
    return OfThis.VALUE;
  }

  /** Fingerprint of a jar file or a folder of classes. */
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
   * Location of this class. The code source is not used: it is null for a class from a class-data
   * archive that was made elsewhere, as in a bundle.
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
