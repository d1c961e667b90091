package dev.kbx.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The folder kbx was started from ({@code worker/}, {@code tasks/}) and the folder it keeps its own
 * things in ({@code .kbx}).
 */
final class Home {
  private Home() {}

  /** The checkout or unpacked bundle, as the launcher says; the working directory otherwise. */
  static Path folder() {
    return Path.of(System.getProperty("kbx.home", "")).toAbsolutePath().normalize();
  }

  /**
   * The folder whose {@code worker/} is run: this one, unless {@code kbx bench referee} has put
   * simulated workers in its place.
   */
  static Path workers() {
    String simulated = System.getProperty("kbx.workers", "");
    return simulated.isEmpty() ? folder() : Path.of(simulated).toAbsolutePath().normalize();
  }

  static Path tasks() {
    return folder().resolve("tasks");
  }

  /** Where kbx keeps what it knows between runs: here, or with the user where this is read-only. */
  static Path state() {
    Path own = folder().resolve(".kbx");
    try {
      Files.createDirectories(own);
    } catch (IOException e) {
      return userState();
    }
    return Files.isWritable(own) ? own : userState();
  }

  private static Path userState() {
    return Path.of(System.getProperty("user.home"), ".local", "state", "kbx");
  }

  /**
   * What seeds derive from: 32 random bytes made at first use, readable by this user alone.
   *
   * <p>Where the folder cannot be written (an installed bundle), the user's own state folder holds
   * it.
   */
  static String secret() {
    Path own = folder().resolve(".kbx").resolve("secret");
    try {
      return secret(own);
    } catch (IOException e) {
      Path user = userState().resolve("secret");
      try {
        return secret(user);
      } catch (IOException second) {
        throw new UserError(
            "cannot keep a secret for seeds in %s or %s: %s".formatted(own, user, second));
      }
    }
  }

  private static String secret(Path file) throws IOException {
    if (!Files.exists(file)) {
      Files.createDirectories(file.toAbsolutePath().getParent());
      byte[] bytes = new byte[32];
      new SecureRandom().nextBytes(bytes);
      Path draft = file.resolveSibling("secret." + ProcessHandle.current().pid());
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(draft, HexFormat.of().formatHex(bytes), StandardOpenOption.WRITE);
      try {
        Files.createLink(file, draft); // Fails if another first run was faster: its secret holds.
      } catch (FileAlreadyExistsException e) {
        // Read below.
      } finally {
        Files.delete(draft);
      }
    }
    return Files.readString(file, StandardCharsets.UTF_8).strip();
  }
}
