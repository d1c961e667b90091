package dev.kbx.app;

import dev.kbx.error.InputException;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.RunInfo;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A results folder, with the store that has its runs.
 *
 * @param store its {@code kbx.db}, or a database
 */
public record ResultsFolder(Path out, StoreAddress store) {
  /** An empty database and a page; a disk without this much room is full. */
  private static final int LEAST_BYTES = 1 << 18;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);
  private static final String LETTERS = "bcdfghjkmnpqrstvwxz";

  private static final int MOST_LISTED = 5;

  /** The environment variable that names a team's database. */
  private static final String VARIABLE = "KBX_STORE";

  /** The runs are in the database that {@code KBX_STORE} names; without one, in the folder. */
  public static ResultsFolder of(Path out) {
    return of(out, null);
  }

  /**
   * The store of a folder unless a database is named.
   *
   * @param url {@code jdbc:postgresql://HOST/DATABASE}
   */
  public static ResultsFolder of(Path out, @Nullable String url) {
    String named = url != null ? url : System.getenv(VARIABLE);
    if (named == null || named.isEmpty()) return ownStore(out);
    try {
      return new ResultsFolder(out, StoreAddress.of(named));
    } catch (IllegalArgumentException e) {
      throw new InputException((url != null ? "--store " : VARIABLE + " ") + e.getMessage());
    }
  }

  /** The runs are in the folder's {@code kbx.db}, whatever the environment names. */
  public static ResultsFolder ownStore(Path out) {
    return new ResultsFolder(out, StoreAddress.of(out.resolve("kbx.db")));
  }

  /** Opens the store. Throws {@link InputException} if there is none. */
  public RunStore open() {
    return existing().orElseThrow(this::withoutRuns);
  }

  /** Opens the store, if there is one. */
  public Optional<RunStore> existing() {
    return RunStore.openExisting(store);
  }

  /** The ledger of a run of methods; empty for other runs. */
  public Optional<Path> ledger(String run) {
    return Optional.of(Ledgers.file(out, run)).filter(Files::isRegularFile);
  }

  /** The ledger of the newest run of methods. */
  public Optional<Path> newestLedger() {
    return new Ledgers(out).newest();
  }

  /** Locks the folder, if it exists, against other writers. */
  public AutoCloseable lock() {
    return Files.isDirectory(out) ? FolderLock.of(out) : () -> {};
  }

  /** The folder, or the database if one was named. */
  public String place() {
    return store.isFile() ? out.toString() : store.toString();
  }

  /** Says that the store has no such run, and which it has. */
  public InputException unknown(String run, RunStore opened) {
    return new InputException("%s: no run %s; %s".formatted(place(), run, listed(opened.runs())));
  }

  /** Says that the folder holds no runs, and what is there instead. */
  public InputException withoutRuns() {
    return new InputException(
        "%s: no runs there (%s); name the folder of an earlier --out"
            .formatted(out, Files.isDirectory(out) ? "no kbx.db" : inPlaceOf(out)));
  }

  /** What is at a path in place of a folder. */
  private static String inPlaceOf(Path path) {
    if (Files.exists(path)) return "a file";
    return Files.isSymbolicLink(path) ? "a link to nothing" : "no such folder";
  }

  /** Creates the folder and checks that files can be written in it. */
  public Path writable() {
    return writable(out);
  }

  /** Creates the folder of {@code --out} and checks that files can be written in it. */
  public static Path writable(Path folder) {
    return writable("--out " + folder, folder);
  }

  /**
   * Creates a folder and checks that files can be written in it.
   *
   * @param name what messages call it
   */
  public static Path writable(String name, Path folder) {
    refuseObstacle(name, folder);
    try {
      Files.createDirectories(folder);
      Path probe = Files.createTempFile(folder, ".kbx", ".probe");
      try {
        Files.write(probe, new byte[LEAST_BYTES]);
      } finally {
        Files.delete(probe);
      }
      return folder;
    } catch (AccessDeniedException e) {
      throw new InputException(name + ": no permission to write there; name another folder");
    } catch (NoSuchFileException e) {
      throw new InputException(name + ": cannot create a folder there; name another");
    } catch (IOException e) {
      throw new InputException("%s: cannot write there: %s".formatted(name, Reason.of(e)), e);
    }
  }

  /**
   * Checks that a file can be written, and that it takes the place of none of another kind: what is
   * mistyped is often a source.
   *
   * @param name what messages call it
   * @param ending of the names of its kind, such as {@code .html}
   */
  public static Path file(String name, Path file, String ending) {
    if (Files.isDirectory(file)) {
      throw new InputException("%s: is a folder; name a file, *%s".formatted(name, ending));
    }
    if (Files.isRegularFile(file) && !file.toString().endsWith(ending)) {
      throw new InputException(
          "%s: is there already and no *%s; give another name, or delete it"
              .formatted(name, ending));
    }
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) writable(name, parent);
    return file;
  }

  /** Throws if a file or a dangling link is where the folder, or one above it, should be. */
  public static void refuseObstacle(String name, Path folder) {
    Path nearest = folder;
    while (nearest != null && !Files.exists(nearest, LinkOption.NOFOLLOW_LINKS)) {
      nearest = nearest.getParent();
    }
    if (nearest == null || Files.isDirectory(nearest)) return;
    String what = nearest.equals(folder) ? "is " : nearest + " is ";
    throw new InputException("%s: %s%s; name a folder".formatted(name, what, inPlaceOf(nearest)));
  }

  /**
   * Copies all runs of results folders, with their verdicts and sources, into the {@code kbx.db} of
   * one: all of them or, if one has the id of a different run that is there, none.
   *
   * @param out made where there is none
   */
  public static List<RunStore.Copied> merge(List<Path> folders, Path out) throws Exception {
    List<RunStore> opened = new ArrayList<>();
    try (AutoCloseable _ = () -> opened.forEach(RunStore::close)) {
      for (Path folder : folders) opened.add(ownStore(folder).open());
      ResultsFolder target = ownStore(out);
      target.store().check();
      try (var _ = FolderLock.of(target.writable());
          RunStore store = RunStore.open(target.store())) {
        return store.copy(opened.stream().map(RunStore.Selection::all).toList());
      }
    }
  }

  /** Lists runs in words: all ids if they are few, else the newest. */
  static String listed(List<RunInfo> runs) {
    if (runs.isEmpty()) return "there is none yet";
    String ids = String.join(", ", runs.stream().limit(MOST_LISTED).map(RunInfo::id).toList());
    return runs.size() <= MOST_LISTED
        ? "there: " + ids
        : "the newest of the %d there: %s".formatted(runs.size(), ids);
  }

  /** A new run id: sortable by start, unique between machines, easy to type. */
  public static String nextRun() {
    StringBuilder id = new StringBuilder(TIME.format(Instant.now())).append('-');
    SecureRandom random = new SecureRandom();
    for (int i = 0; i < 4; i++) id.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    return id.toString();
  }
}
