package dev.kbx.judge;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.files.AtomicFile;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Compiled binaries of candidates: one file for each candidate, task, architecture and toolchain.
 *
 * <p>A candidate's own process made the files, so they are reused only for the same source: their
 * content gives its author nothing that the source could not. kbx treats them as data and never
 * opens them under names that a candidate chose. The kernels are of a process that never had the
 * candidate, and its calls are made again with them: who can write here can decide that.
 *
 * <p>Safe for several threads and processes: files are replaced atomically. When the cache is full,
 * the least recently used files are deleted.
 */
public final class BinaryCache {
  /** Size of the folder, in bytes, above which the least recently used files are deleted. */
  private static final long MOST_BYTES = 2L << 30;

  /** The folder's size is checked again after this fraction of the limit was written. */
  private static final int SHARE = 8;

  /** Versions of what watches a candidate, which changes nothing about what is compiled. */
  private static final Set<String> WATCHING = Set.of("witness", "cupti");

  /** Versions of the compilers of C++, and only of that. */
  private static final Set<String> CPP = Set.of("nvcc", "cxx");

  /** Errors are not cached: a machine that was short of memory causes some, too. */
  private static final String ERRORS = "libraries/.*\\.json";

  private final @Nullable Path folder;
  private final InstantSource clock;
  private final long mostBytes;
  private final Consumer<String> warn;
  private final AtomicLong unswept = new AtomicLong(Long.MAX_VALUE / 2);
  private final AtomicBoolean warned = new AtomicBoolean();

  BinaryCache(@Nullable Path folder, InstantSource clock, long mostBytes, Consumer<String> warn) {
    this.folder = folder;
    this.clock = clock;
    this.mostBytes = mostBytes;
    this.warn = warn;
  }

  /**
   * Opens a cache in a folder, which need not exist.
   *
   * @param warn receives one line if nothing can be cached
   */
  public static BinaryCache in(Path folder, Consumer<String> warn) {
    return new BinaryCache(folder, InstantSource.system(), MOST_BYTES, warn);
  }

  /** A cache that keeps nothing. */
  public static BinaryCache nowhere() {
    return new BinaryCache(null, InstantSource.system(), 0, _ -> {});
  }

  /**
   * The cache key: everything that a candidate's binaries depend on.
   *
   * @param candidate SHA-256 of its source
   * @param task SHA-256 of the task file: shapes decide what a kernel is compiled for
   * @param precision dtypes decide it, too
   * @param timed whether benchmark sizes are among those shapes
   * @param versions of Python, torch, triton, worker and, for C++, nvcc and the C++ compiler
   */
  record Key(
      String candidate,
      String task,
      ModulePrecision precision,
      String arch,
      boolean timed,
      Map<String, String> versions) {
    Key {
      versions = Map.copyOf(versions);
    }

    static Key of(
        Candidate candidate,
        ModulePrecision precision,
        String arch,
        boolean timed,
        Map<String, String> versions) {
      return new Key(
          candidate.hash(),
          candidate.task().digest(),
          precision,
          arch,
          timed,
          toolchain(versions, candidate.bringsCpp()));
    }

    /** Whether the Python that the binaries come from is known. */
    boolean complete() {
      return versions.containsKey("worker");
    }

    String name() {
      List<Object> parts =
          List.of(candidate, task, precision, arch, timed, new TreeMap<>(versions));
      return DigestUtils.sha256Hex(parts.toString());
    }
  }

  /**
   * The versions of a judge that compiled binaries depend on. Machines that share these can use
   * each other's.
   *
   * @param cpp whether C++ is compiled
   */
  public static Map<String, String> toolchain(Map<String, String> versions, boolean cpp) {
    Map<String, String> found = new TreeMap<>(versions);
    found.keySet().removeAll(WATCHING);
    if (!cpp) found.keySet().removeAll(CPP);
    return found;
  }

  private record Kept(Key key, Ahead compiled) {
    Kept {
      requireNonNull(key);
      requireNonNull(compiled);
    }
  }

  /** What is cached under this key; nothing on a cache miss. */
  Ahead read(Key key) {
    Path file = file(key);
    if (file == null) return Ahead.NOTHING;
    try {
      Kept kept = Json.mapper().readValue(Files.readAllBytes(file), Kept.class);
      if (!kept.key().equals(key)) return Ahead.NOTHING;
      Files.setLastModifiedTime(file, FileTime.from(clock.instant()));
      return kept.compiled();
    } catch (NoSuchFileException e) {
      return Ahead.NOTHING;
    } catch (IOException | JacksonException | NullPointerException e) {
      return Ahead.NOTHING; // Compiled again, and replaced.
    }
  }

  /** Caches this, unless it is empty or contains errors. */
  void write(Key key, Ahead compiled) {
    Path file = file(key);
    if (file == null || compiled.hasNoFiles()) return;
    if (compiled.files().keySet().stream().anyMatch(name -> name.matches(ERRORS))) return;
    try {
      byte[] content = Json.mapper().writeValueAsBytes(new Kept(key, compiled));
      if (unswept.addAndGet(content.length) > mostBytes / SHARE) sweep();
      AtomicFile.cache(file, content);
    } catch (IOException e) {
      if (!warned.getAndSet(true)) {
        warn.accept("what is compiled cannot be kept in %s (%s)".formatted(folder, e.getMessage()));
      }
    }
  }

  private @Nullable Path file(Key key) {
    if (folder == null || !key.complete()) return null;
    String name = key.name();
    return folder.resolve(name.substring(0, 2)).resolve(name + ".json");
  }

  private record Aged(Path path, FileTime used, long bytes) {}

  /** All files below a folder, except those that others replace or delete meanwhile. */
  private static List<Aged> aged(Path folder) throws IOException {
    List<Aged> all = new ArrayList<>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes about) {
            all.add(new Aged(file, about.lastModifiedTime(), about.size()));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException why) throws IOException {
            if (why instanceof NoSuchFileException) return FileVisitResult.CONTINUE;
            throw why;
          }
        });
    return all;
  }

  /** Deletes the least recently used files until the folder is small enough. */
  private synchronized void sweep() throws IOException {
    if (unswept.getAndSet(0) <= mostBytes / SHARE) return; // Another thread has just done it.
    List<Aged> all = aged(requireNonNull(folder));
    all.sort(Comparator.comparing(Aged::used));
    long bytes = all.stream().mapToLong(Aged::bytes).sum();
    for (Aged each : all) {
      if (bytes <= mostBytes) return;
      Files.deleteIfExists(each.path());
      bytes -= each.bytes();
    }
  }
}
