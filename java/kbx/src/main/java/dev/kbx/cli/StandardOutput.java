package dev.kbx.cli;

import dev.kbx.app.Reason;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Standard output that keeps the cause of a failed write, which {@link System#out} does not. */
final class StandardOutput extends FilterOutputStream {
  private static final Path DESCRIPTOR = Path.of("/proc/self/fd/1");

  /** Mask of the file type in a Linux file mode. */
  private static final int KIND = 0xf000;

  private static final int PIPE = 0x1000;
  private static final int SOCKET = 0xc000;

  private @Nullable IOException failure;

  private StandardOutput(OutputStream to) {
    super(to);
  }

  /** Replaces {@link System#out}. */
  static StandardOutput install() {
    StandardOutput watched = new StandardOutput(new FileOutputStream(FileDescriptor.out));
    System.setOut(new PrintStream(new BufferedOutputStream(watched), true, System.out.charset()));
    return watched;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      if (failure == null) failure = e;
      throw e;
    }
  }

  /** The exit code of a command that ended with {@code code}; reports lost output. */
  int exit(int code) {
    System.out.flush();
    if (failure == null || leadsToReader()) return code;
    System.err.println("kbx: cannot write to stdout: " + Reason.of(failure));
    return ExitCode.INCOMPLETE;
  }

  /** Whether stdout is a pipe or socket, whose reader may stop early, as {@code head} does. */
  private static boolean leadsToReader() {
    try {
      int kind = (int) Files.getAttribute(DESCRIPTOR, "unix:mode") & KIND;
      return kind == PIPE || kind == SOCKET;
    } catch (IOException _) {
      return false;
    }
  }
}
