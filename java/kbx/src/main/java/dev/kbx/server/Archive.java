package dev.kbx.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks the plain files of a zip or tar archive into a folder. Nothing is written outside of it:
 * names that lead out, links and devices are refused.
 */
final class Archive {
  static final long MOST_BYTES = 256L << 20;
  static final int MOST_FILES = 20_000;
  private static final int MOST_NAME = 2_048;

  /** Bytes of the name of one file or folder, on any usual file system. */
  private static final int MOST_PART = 255;

  private final Path folder;
  private long bytes;
  private int files;

  private Archive(Path folder) {
    this.folder = folder.toAbsolutePath().normalize();
  }

  static void unpack(Path file, Path folder) throws IOException {
    Archive archive = new Archive(folder);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      in.mark(2);
      int first = in.read();
      int second = in.read();
      in.reset();
      archive.read(in, first, second);
    } catch (IOException e) { // Of what it is made of: the readers throw many kinds.
      String why = Plans.cut(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
      throw Refusal.of(422, "the archive is damaged: " + why);
    }
    if (archive.files == 0) throw Refusal.of(422, "the archive has no files");
  }

  private void read(InputStream in, int first, int second) throws IOException {
    if (first == 'P' && second == 'K') zip(in);
    else if (first == 0x1f && second == 0x8b) tar(new BufferedInputStream(new GZIPInputStream(in)));
    else plain(in);
  }

  private void plain(InputStream in) throws IOException {
    try {
      tar(in);
    } catch (IOException e) {
      throw files == 0 ? new IOException("it is neither zip, tar nor gzip", e) : e;
    }
  }

  private void zip(InputStream in) throws IOException {
    ZipInputStream zip = new ZipInputStream(in);
    try {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (!entry.isDirectory()) copy(entry.getName(), zip);
      }
    } catch (IllegalArgumentException e) {
      throw new ZipException("a name is no UTF-8");
    }
  }

  private void tar(InputStream in) throws IOException {
    HeaderLimit limited = new HeaderLimit(in);
    TarArchiveInputStream tar = new TarArchiveInputStream(limited, UTF_8.name());
    for (TarArchiveEntry entry = next(tar, limited); entry != null; entry = next(tar, limited)) {
      switch (entry.getLinkFlag()) {
        case TarConstants.LF_OLDNORM, TarConstants.LF_NORMAL -> copy(entry.getName(), tar);
        case TarConstants.LF_DIR -> tar.skipNBytes(entry.getSize());
        default ->
            throw Refusal.of(
                422,
                "%s: is a link or device; pack plain files".formatted(Plans.cut(entry.getName())));
      }
    }
  }

  /** Whatever cannot be read is damaged. */
  private static @Nullable TarArchiveEntry next(TarArchiveInputStream tar, HeaderLimit limited)
      throws IOException {
    try {
      limited.begin();
      TarArchiveEntry entry = tar.getNextEntry();
      limited.end();
      if (entry != null && !entry.isCheckSumOK()) throw new ZipException("it is not a tar archive");
      return entry;
    } catch (RuntimeException e) { // Of numbers that are none, or too large.
      throw new ZipException("a header cannot be read");
    }
  }

  /** The reader of tar keeps names in memory, however long an archive says that they are. */
  private static final class HeaderLimit extends FilterInputStream {
    private static final int MOST = 1 << 20;
    private long left;

    HeaderLimit(InputStream in) {
      super(in);
      end();
    }

    void begin() {
      left = MOST;
    }

    void end() {
      left = Long.MAX_VALUE;
    }

    @Override
    public int read() throws IOException {
      return (int) counted(super.read(), 1);
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      int read = super.read(buffer, from, length);
      return (int) counted(read, read);
    }

    @Override
    public long skip(long bytes) throws IOException {
      long skipped = super.skip(bytes);
      return counted(skipped, skipped);
    }

    private long counted(long result, long bytes) throws IOException {
      left -= bytes;
      if (left < 0) throw new ZipException("a name is too long");
      return result;
    }
  }

  private void copy(String name, InputStream in) throws IOException {
    if (++files > MOST_FILES) throw Refusal.of(413, "the archive has more than 20,000 files");
    Path target = target(name);
    try (OutputStream out = create(name, target)) {
      byte[] buffer = new byte[1 << 14];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        bytes += read;
        if (bytes > MOST_BYTES) throw Refusal.of(413, "the archive unpacks to more than 256 MiB");
        out.write(buffer, 0, read);
      }
    }
  }

  private OutputStream create(String name, Path target) throws IOException {
    Path above = folder;
    for (Path part : folder.relativize(target)) {
      if (Files.isRegularFile(above)) throw twice(name);
      above = above.resolve(part);
    }
    try {
      Scratch.makeFolders(Objects.requireNonNull(target.getParent(), "it is below the folder"));
      return Scratch.create(target);
    } catch (FileAlreadyExistsException e) {
      throw twice(name);
    }
  }

  private static Refusal twice(String name) {
    return Refusal.of(422, "%s: is in the archive twice".formatted(Plans.cut(name)));
  }

  private static void needShort(String part) {
    if (part.getBytes(UTF_8).length <= MOST_PART) return;
    throw Refusal.of(422, "%s: has more than 255 bytes".formatted(Plans.cut(part)));
  }

  private Path target(String name) {
    try {
      if (name.length() <= MOST_NAME && !name.startsWith("/") && name.indexOf('\\') < 0) {
        Path target = folder.resolve(name).normalize();
        if (target.startsWith(folder) && !target.equals(folder)) {
          for (Path part : folder.relativize(target)) needShort(part.toString());
          return target;
        }
      }
    } catch (InvalidPathException e) {
      // Told below.
    }
    throw Refusal.of(422, "%s: leads out of the folder".formatted(Plans.cut(name)));
  }
}
