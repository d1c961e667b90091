package dev.kbx.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElseGet;

import java.io.BufferedWriter;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.exc.JacksonIOException;

/**
 * Replaces a file atomically: readers, also in other processes, see the old or the new content,
 * always complete.
 *
 * <p>The content is first written to a draft beside the file. A failure deletes its draft. A kill
 * may leave one; the first writer of a later process in that folder deletes it, once it is an hour
 * old.
 */
public final class AtomicFile {
  /** How drafts' names end; they begin with a dot. */
  private static final String DRAFT = ".draft";

  /** What is older belongs to no writer any more, on this machine or another. */
  private static final Duration ABANDONED = Duration.ofHours(1);

  /** The folders that this process has cleared of drafts. */
  private static final Set<Path> CLEARED = ConcurrentHashMap.newKeySet();

  private AtomicFile() {}

  /** Writes a file's text; need not close or flush. */
  public interface Body {
    void write(Writer writer) throws IOException;
  }

  /** Writes a file's bytes; may close the stream. */
  public interface Bytes {
    void write(OutputStream out) throws IOException;
  }

  /**
   * Replaces a result, which then survives a power failure, too. Throws {@link
   * UnwritableException}; then the old file is unchanged.
   */
  public static void replace(Path file, Body body) {
    replaceBytes(
        file,
        out -> {
          // An encoder made this way replaces lone surrogates, which a candidate's text may hold.
          var writer = new BufferedWriter(new OutputStreamWriter(out, UTF_8));
          body.write(writer);
          writer.flush();
        });
  }

  /** Replaces a file by bytes. */
  public static void replaceBytes(Path file, Bytes body) {
    try {
      put(file, draft -> write(draft, body));
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    } catch (UncheckedIOException e) {
      throw new UnwritableException(file, requireNonNull(e.getCause()));
    } catch (JacksonIOException e) {
      throw new UnwritableException(
          file, requireNonNullElseGet(e.getCause(), () -> new IOException(e)));
    }
  }

  private static void write(Path file, Bytes body) throws IOException {
    try (var channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      body.write(kept(channel));
      channel.force(true);
    }
  }

  /** A stream that does not close the channel, as the file has to be synced after it. */
  private static OutputStream kept(FileChannel channel) {
    return new FilterOutputStream(Channels.newOutputStream(channel)) {
      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        out.write(bytes, from, count);
      }

      @Override
      public void close() throws IOException {
        flush();
      }
    };
  }

  /**
   * Replaces a file of a cache, whose folder need not exist. It is not synced: what a power failure
   * destroys is made again.
   *
   * @throws IOException if it cannot be written
   */
  public static void cache(Path file, byte[] content) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    put(file, draft -> Files.write(draft, content, StandardOpenOption.CREATE_NEW));
  }

  /**
   * Replaces a file that its owner alone reads.
   *
   * @throws IOException if it cannot be written
   */
  public static void secret(Path file, byte[] content) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    put(
        file,
        draft -> {
          Files.createFile(
              draft,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
          Files.write(draft, content);
        });
  }

  /**
   * Replaces a file by a link, or by a copy of what it leads to if links are impossible.
   *
   * @param target relative to the link's folder
   * @throws IOException if neither is possible
   */
  public static void link(Path link, Path target) throws IOException {
    put(
        link,
        draft -> {
          try {
            Files.createSymbolicLink(draft, target);
          } catch (UnsupportedOperationException | FileSystemException e) {
            Files.copy(link.resolveSibling(target), draft);
          }
        });
  }

  private interface Draft {
    void write(Path draft) throws IOException;
  }

  private static void put(Path file, Draft content) throws IOException {
    // Not a Java temporary file, which other users of a shared folder could not read. Its name has
    // no process id: those of two containers are often the same.
    Path draft = file.resolveSibling("." + UUID.randomUUID() + DRAFT);
    boolean moved = false;
    try {
      content.write(draft);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
      moved = true;
    } finally {
      if (!moved) delete(draft);
    }
    clear(file.toAbsolutePath().getParent());
  }

  /** Deletes the drafts that killed processes left. */
  private static void clear(@Nullable Path folder) {
    if (folder == null || !CLEARED.add(folder)) return;
    Instant oldest = Instant.now().minus(ABANDONED);
    try (DirectoryStream<Path> drafts = Files.newDirectoryStream(folder, ".*" + DRAFT)) {
      for (Path draft : drafts) {
        if (changed(draft).isBefore(oldest)) delete(draft);
      }
    } catch (IOException | DirectoryIteratorException e) {
      // They are in nobody's way.
    }
  }

  /** When a draft was written; now if another process deletes it meanwhile. */
  private static Instant changed(Path draft) {
    try {
      return Files.getLastModifiedTime(draft, LinkOption.NOFOLLOW_LINKS).toInstant();
    } catch (IOException e) {
      return Instant.now();
    }
  }

  private static void delete(Path draft) {
    try {
      Files.deleteIfExists(draft);
    } catch (IOException e) {
      // A later process tries again.
    }
  }
}
