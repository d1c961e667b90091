package dev.kbx.server;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;

/**
 * Unpacks the plain files of a zip or tar archive into a folder. Nothing is written outside of it:
 * names that lead out, links and devices are refused.
 */
final class Archive {
  static final long MOST_BYTES = 256L << 20;
  static final int MOST_FILES = 20_000;
  private static final int BLOCK = 512;
  private static final int MOST_NAME = 4_096;

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
      if (first == 'P' && second == 'K') archive.zip(in);
      else if (first == 0x1f && second == 0x8b)
        archive.tar(new BufferedInputStream(new GZIPInputStream(in)));
      else archive.tar(in);
    } catch (ZipException | java.io.EOFException | FileAlreadyExistsException e) {
      throw Refusal.of(422, "the archive is damaged: " + Plans.cut(String.valueOf(e.getMessage())));
    }
    if (archive.files == 0) throw Refusal.of(422, "the archive has no files");
  }

  private void zip(InputStream in) throws IOException {
    ZipInputStream zip = new ZipInputStream(in);
    try {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (!entry.isDirectory()) copy(entry.getName(), zip, Long.MAX_VALUE);
      }
    } catch (IllegalArgumentException e) {
      throw new ZipException("a name is no UTF-8");
    }
  }

  private void tar(InputStream in) throws IOException {
    String longName = null;
    while (true) {
      byte[] header = in.readNBytes(BLOCK);
      if (header.length == 0 || (header.length == BLOCK && header[0] == 0)) return;
      if (header.length < BLOCK || !checks(header))
        throw new ZipException("it is neither zip nor tar");
      long size = number(header, 124, 12);
      String prefix = header[257] == 'u' ? text(header, 345, 155) : "";
      String name = text(header, 0, 100);
      if (!prefix.isEmpty()) name = prefix + "/" + name;
      if (longName != null) name = longName;
      longName = null;
      switch (header[156]) {
        case 0, '0' -> copy(name, in, size);
        case 'L' -> longName = text(named(in, size), 0, (int) size);
        case 'x' -> longName = pax(new String(named(in, size), StandardCharsets.UTF_8));
        case '5', 'g' -> in.skipNBytes(size);
        default ->
            throw Refusal.of(
                422, "%s: is a link or device; pack plain files".formatted(Plans.cut(name)));
      }
      in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
    }
  }

  private static byte[] named(InputStream in, long size) throws IOException {
    if (size > MOST_NAME) throw new ZipException("a name is too long");
    return in.readNBytes((int) size);
  }

  private static boolean checks(byte[] header) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : header[i] & 0xff;
    return sum == number(header, 148, 8);
  }

  /** An octal number; -1 for anything else. */
  private static long number(byte[] header, int from, int length) {
    String digits = text(header, from, length).strip();
    try {
      return digits.isEmpty() ? 0 : Long.parseUnsignedLong(digits, 8);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static String text(byte[] bytes, int from, int length) {
    int end = from;
    while (end < Math.min(bytes.length, from + length) && bytes[end] != 0) end++;
    return new String(bytes, from, end - from, StandardCharsets.UTF_8);
  }

  /** The path in a header of key=value records; null if there is none. */
  private static @org.jspecify.annotations.Nullable String pax(String records) {
    for (String record : records.split("\n", -1)) {
      int at = record.indexOf(" path=");
      if (at >= 0) return record.substring(at + " path=".length());
    }
    return null;
  }

  private void copy(String name, InputStream in, long size) throws IOException {
    if (size < 0) throw new ZipException("a size is no number");
    if (++files > MOST_FILES) throw Refusal.of(413, "the archive has more than 20,000 files");
    Path target = target(name);
    Files.createDirectories(target.getParent());
    try (OutputStream out =
        Files.newOutputStream(target, java.nio.file.StandardOpenOption.CREATE_NEW)) {
      byte[] buffer = new byte[1 << 14];
      long left = size;
      while (left > 0) {
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (read < 0) break;
        left -= read;
        bytes += read;
        if (bytes > MOST_BYTES) throw Refusal.of(413, "the archive unpacks to more than 256 MiB");
        out.write(buffer, 0, read);
      }
      if (left > 0 && size != Long.MAX_VALUE) throw new ZipException("it ends early");
    }
  }

  private Path target(String name) {
    try {
      if (name.length() <= MOST_NAME && !name.startsWith("/") && name.indexOf('\\') < 0) {
        Path target = folder.resolve(name).normalize();
        if (target.startsWith(folder) && !target.equals(folder)) return target;
      }
    } catch (InvalidPathException e) {
      // Told below.
    }
    throw Refusal.of(422, "%s: leads out of the folder".formatted(Plans.cut(name)));
  }
}
