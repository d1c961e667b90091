package dev.kbx.cli;

import dev.kbx.judge.JudgeFingerprint;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.task.TaskCache;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;

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

  /**
   * Opens a suite by its name or folder.
   *
   * @throws dev.kbx.task.InvalidSuite as {@link Suites#open(String, Path)} does
   */
  static Suite suite(String nameOrFolder) {
    return suite(nameOrFolder, _ -> true);
  }

  /** The same for those tasks alone whose names are wanted. */
  static Suite suite(String nameOrFolder, Predicate<String> wanted) {
    TaskCache cache = TaskCache.in(state().resolve("tasks"), JudgeFingerprint.ofThis());
    return Suites.open(nameOrFolder, tasks(), wanted, cache);
  }

  /** Where kbx keeps what it knows between runs: beside itself if it can, else with the user. */
  static Path state() {
    for (Path folder : stateFolders()) {
      try {
        Files.createDirectories(folder);
      } catch (IOException e) {
        continue;
      }
      if (Files.isWritable(folder)) return folder;
    }
    return stateFolders().getLast();
  }

  /**
   * What seeds derive from: 32 random bytes made at first use, readable by this user alone.
   *
   * <p>Where the folder cannot be written (an installed bundle), the user's own state folder holds
   * it.
   */
  static String secret() {
    List<Path> files = stateFolders().stream().map(folder -> folder.resolve("secret")).toList();
    IOException problem = null;
    for (Path file : files) {
      try {
        return secret(file);
      } catch (IOException e) {
        problem = e;
      }
    }
    throw new UserError(
        "cannot keep a secret for seeds in %s or %s: %s; set HOME to a folder of yours, or give --seed"
            .formatted(
                files.getFirst(), files.getLast(), problem == null ? "" : Reason.of(problem)));
  }

  /** Where kbx keeps its own things: beside itself if it can, else in the user's state folder. */
  static List<Path> stateFolders() {
    String home = System.getenv("HOME"); // Java's own is that of passwd, which containers lack.
    if (home == null || home.isBlank()) home = System.getProperty("user.home");
    return List.of(folder().resolve(".kbx"), Path.of(home, ".local", "state", "kbx"));
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
    String secret = Files.readString(file, StandardCharsets.UTF_8).strip();
    if (secret.isEmpty()) {
      throw new UserError(file + ": is empty; delete it and kbx makes a new secret for seeds");
    }
    return secret;
  }
}
