package dev.kbx.app;

import dev.kbx.certify.SigningKey;
import dev.kbx.error.InputException;
import dev.kbx.judge.JudgeFingerprint;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.python.PythonSyntax;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.BackwardSuite;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.task.TaskCache;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.RunInfo;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The folder of kbx ({@code worker/}, {@code tasks/}) and that of its own state ({@code .kbx}). */
public final class Home {
  private static final String SIMULATED = "kbx.workers";
  private static final String SIGNING_KEY = "signing-key.pem";

  private final Path folder;

  private Home(Path folder) {
    this.folder = folder.toAbsolutePath().normalize();
  }

  /** A checkout or unpacked bundle. */
  static Home of(Path folder) {
    return new Home(folder);
  }

  /** The one that the launcher gave to this process; else the working directory. */
  public static Home here() {
    return of(Path.of(System.getProperty("kbx.home", "")));
  }

  /** {@code 0.1.0}; {@code development} when run from classes. */
  public static String version() {
    String version = Home.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  /** The checkout or bundle. */
  public Path folder() {
    return folder;
  }

  /**
   * The folder with the {@code worker/} to run: kbx's folder, or that of the simulated workers of
   * {@code kbx bench referee}.
   */
  Path workers() {
    String simulated = System.getProperty(SIMULATED, "");
    return simulated.isEmpty() ? folder : Path.of(simulated).toAbsolutePath().normalize();
  }

  /** Whether the workers are simulated ones, which need nothing but a Python. */
  static boolean simulates() {
    return !System.getProperty(SIMULATED, "").isEmpty();
  }

  Path tasks() {
    return folder().resolve("tasks");
  }

  /**
   * Opens a suite by its name or folder.
   *
   * @throws dev.kbx.task.InvalidSuite as {@link Suites#open(String, Path)} does
   */
  public Suite suite(String nameOrFolder) {
    return suite(nameOrFolder, _ -> true);
  }

  /** A suite with only the tasks whose names are wanted. */
  public Suite suite(String nameOrFolder, Predicate<String> wanted) {
    TaskCache cache = TaskCache.in(state().resolve("tasks"), JudgeFingerprint.ofThis());
    try (SyntaxCheck syntax = syntax()) {
      Optional<String> differentiated = BackwardSuite.of(nameOrFolder, tasks());
      if (differentiated.isEmpty()) {
        return Suites.open(nameOrFolder, tasks(), wanted, cache, syntax);
      }
      Suite forward = Suites.open(differentiated.get(), tasks(), _ -> true, cache, syntax);
      return backward(nameOrFolder, forward, wanted, cache, syntax);
    }
  }

  private Suite backward(
      String asked, Suite forward, Predicate<String> wanted, TaskCache cache, SyntaxCheck syntax) {
    Path folder = state().resolve("backward");
    String version = JudgeFingerprint.ofThis();
    try {
      return new BackwardSuite(forward)
          .open(asked, folder, tasks(), version, wanted, cache, syntax);
    } catch (IOException e) {
      throw new InputException("%s: cannot be written (%s)".formatted(folder, Reason.of(e)), e);
    }
  }

  /** Finds syntax errors, by the interpreter of this machine if it has one. */
  public SyntaxCheck syntax() {
    return syntax(Optional.empty());
  }

  /**
   * @param python the interpreter of {@code --python}
   */
  SyntaxCheck syntax(Optional<Path> python) {
    return new PythonSyntax(
        () -> PythonEnvironment.present(python, System.getenv(), folder), folder);
  }

  /**
   * The suite of kbx's own that a run of another installation names; empty if it is none of these,
   * whatever folder has its name.
   *
   * @param nameOrFolder as the run has it
   */
  Optional<Suite> bundledSuite(String nameOrFolder) {
    try {
      Path name = Path.of(nameOrFolder).getFileName();
      if (name == null || name.toString().isEmpty() || name.toString().startsWith(".")) {
        return Optional.empty();
      }
      String forward = BackwardSuite.of(name.toString(), tasks()).orElse(name.toString());
      return Files.isDirectory(tasks().resolve(forward))
          ? Optional.of(suite(name.toString()))
          : Optional.empty();
    } catch (InvalidPathException _) {
      return Optional.empty();
    }
  }

  /** The tasks that a run asked for; none if its suite is missing or has changed. */
  public List<Task> selected(RunInfo run) {
    try {
      return suite(run.suite()).find(run.tasks());
    } catch (InvalidSuite | UnknownTask _) {
      return List.of();
    }
  }

  /** The writable one of {@link #stateFolders}, which is created if necessary. */
  Path state() {
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
   * The secret that seeds derive from: 32 random bytes made at first use, readable only by this
   * user.
   *
   * <p>If kbx's folder is not writable (an installed bundle), it is in the user's state folder.
   */
  public String secret() {
    List<Path> files = stateFolders().stream().map(folder -> folder.resolve("secret")).toList();
    IOException problem = null;
    for (Path file : files) {
      try {
        return secret(file);
      } catch (IOException e) {
        problem = e;
      }
    }
    throw new InputException(
        "cannot keep a secret for seeds in %s or %s: %s; set HOME to a folder of yours, or give --seed"
            .formatted(
                files.getFirst(), files.getLast(), problem == null ? "" : Reason.of(problem)));
  }

  /** Folders for kbx's state: {@code .kbx} in its own folder, then one in the user's home. */
  public List<Path> stateFolders() {
    String home = System.getenv("HOME"); // Java's property is from passwd, which containers lack.
    if (home == null || home.isBlank()) home = System.getProperty("user.home");
    return List.of(folder().resolve(".kbx"), Path.of(home, ".local", "state", "kbx"));
  }

  private static String secret(Path file) throws IOException {
    String secret = kept(file, Home::newSecret).strip();
    if (secret.isEmpty()) {
      throw new InputException(file + ": is empty; delete it and kbx makes a new secret for seeds");
    }
    return secret;
  }

  private static String newSecret() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** The text of a file that only this user can read; made if there is none. */
  private static String kept(Path file, Supplier<String> made) throws IOException {
    if (!Files.exists(file)) {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Path draft = file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid());
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(draft, made.get(), StandardOpenOption.WRITE);
      try {
        Files.createLink(
            file, draft); // Fails if another first run was faster; then its file counts.
      } catch (FileAlreadyExistsException e) {
        // Read below.
      } finally {
        Files.delete(draft);
      }
    }
    return Files.readString(file, StandardCharsets.UTF_8);
  }

  /** The key that this installation signs certificates with; made at first use. */
  public SigningKey signingKey() {
    return signingKey(stateFolders());
  }

  public static SigningKey signingKey(List<Path> folders) {
    IOException problem = null;
    for (Path folder : folders) {
      Path file = folder.resolve(SIGNING_KEY);
      try {
        return SigningKey.of(kept(file, SigningKey::generate));
      } catch (CharacterCodingException | IllegalArgumentException e) {
        throw new InputException(
            "%s: is no Ed25519 private key in PEM; put a copy of it back, or delete it and kbx makes a new one, which is another signer"
                .formatted(file));
      } catch (IOException e) {
        problem = e;
      }
    }
    throw new InputException(
        "cannot keep a key to sign with in %s: %s; set HOME to a folder of yours, or give --key"
            .formatted(folders, problem == null ? "" : Reason.of(problem)));
  }

  /** The signing key if there is a usable one; makes none. */
  public Optional<SigningKey> knownSigningKey() {
    return knownSigningKey(stateFolders());
  }

  public static Optional<SigningKey> knownSigningKey(List<Path> folders) {
    for (Path folder : folders) {
      Path file = folder.resolve(SIGNING_KEY);
      try {
        if (Files.isRegularFile(file)) return Optional.of(SigningKey.of(Files.readString(file)));
      } catch (IOException | IllegalArgumentException e) {
        // Another user's, or damaged: whether this installation signed something is unknown.
      }
    }
    return Optional.empty();
  }
}
