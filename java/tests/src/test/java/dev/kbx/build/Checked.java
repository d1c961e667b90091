package dev.kbx.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * What has passed a check in this checkout before, by its SHA-256, in a file under {@code target/}:
 * the same text passes the same check of the same Java again.
 */
final class Checked {
  private final Path file;
  private final String check;
  private final Set<String> before;
  private final Set<String> now = new TreeSet<>();

  private Checked(Path file, String check, Set<String> before) {
    this.file = file;
    this.check = check;
    this.before = before;
  }

  /**
   * @param name of the file
   * @param check its program, with the version, and its options
   */
  static Checked of(String name, String check) throws IOException {
    Path file = Path.of("target/checked", name);
    Set<String> before = new TreeSet<>();
    if (Files.exists(file)) before.addAll(Files.readAllLines(file));
    return new Checked(file, check, before);
  }

  boolean has(String text) {
    String key = key(text);
    boolean has = before.contains(key);
    if (has) now.add(key);
    return has;
  }

  void add(String text) {
    now.add(key(text));
  }

  /** Forgets what was there before and is not now. */
  void save() throws IOException {
    Files.createDirectories(Path.of("target/checked"));
    Files.write(file, now);
  }

  private String key(String text) {
    return DigestUtils.sha256Hex(Runtime.version() + "\0" + check + "\0" + text);
  }
}
