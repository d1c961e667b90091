package dev.kbx.generate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process that is talked to in lines. A thread each writes, reads, and keeps the end of stderr,
 * so that a process that does not read blocks nobody.
 */
final class ProgramPipes implements AutoCloseable {
  /** No line is longer. */
  static final int LONGEST = 16 << 20;

  private static final int KEPT = 4096;

  /** Lines that wait; more than one is an error of the program, and the rest is not read. */
  private static final int MOST_WAITING = 4;

  private static final Duration GRACE = Duration.ofSeconds(1);

  private final Process process;
  private final BlockingQueue<String> out = new LinkedBlockingQueue<>();
  private final BlockingQueue<Said> in = new LinkedBlockingQueue<>();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final Thread errorReader;

  /** What comes from its stdout. */
  sealed interface Said {
    record Line(String text) implements Said {}

    record TooLong() implements Said {}

    record End() implements Said {}
  }

  ProgramPipes(ProgramCommand command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command.words());
    builder.environment().keySet().removeIf(command.environment().negate());
    process = builder.start();
    start("write", this::write);
    start("read", this::read);
    errorReader = start("errors", this::readErrors);
  }

  private static Thread start(String what, Runnable body) {
    return Thread.ofPlatform().daemon().name("program-" + what).start(body);
  }

  /** Sends a line, without waiting. */
  void send(String line) {
    out.add(line);
  }

  /** Whether it has said something that nobody has received. */
  boolean hasSaid() {
    return !in.isEmpty();
  }

  /** The next line that is not blank; null if there is none in this time. */
  @Nullable Said receive(Duration timeout) throws InterruptedException {
    return in.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void write() {
    try (OutputStream stdin = process.getOutputStream()) {
      while (true) {
        String line = out.take();
        if (line.isEmpty()) return;
        stdin.write((line + "\n").getBytes(UTF_8));
        if (out.isEmpty()) stdin.flush();
      }
    } catch (IOException | InterruptedException e) {
      // It has ended or reads no more; its stdout tells.
    }
  }

  private void read() {
    byte[] buffer = new byte[1 << 16];
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try (InputStream stdout = process.getInputStream()) {
      for (int n = stdout.read(buffer); n >= 0; n = stdout.read(buffer)) {
        int from = 0;
        for (int at = 0; at < n; at++) {
          if (buffer[at] != '\n') continue;
          line.write(buffer, from, at - from);
          from = at + 1;
          add(line);
          if (in.size() >= MOST_WAITING) return;
        }
        line.write(buffer, from, n - from);
        if (line.size() <= LONGEST) continue;
        in.add(new Said.TooLong());
        return;
      }
      add(line);
    } catch (IOException e) {
      // As the end.
    } finally {
      in.add(new Said.End());
    }
  }

  private void add(ByteArrayOutputStream line) {
    String text = line.toString(UTF_8).strip();
    line.reset();
    if (text.length() > LONGEST) in.add(new Said.TooLong());
    else if (!text.isEmpty()) in.add(new Said.Line(text));
  }

  private void readErrors() {
    byte[] buffer = new byte[KEPT];
    try (InputStream stderr = process.getErrorStream()) {
      for (int n = stderr.read(buffer); n >= 0; n = stderr.read(buffer)) {
        synchronized (errors) {
          errors.write(buffer, 0, n);
          byte[] all = errors.toByteArray();
          errors.reset();
          int from = Math.max(0, all.length - KEPT);
          errors.write(all, from, all.length - from);
        }
      }
    } catch (IOException e) {
      // It has ended.
    }
  }

  /** How it ended, after its stdout did: its status, and the last line of stderr. */
  String ending() throws InterruptedException {
    if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) return "closed its stdout";
    errorReader.join(GRACE);
    String last;
    synchronized (errors) {
      last = errors.toString(UTF_8).strip().lines().reduce("", (_, line) -> line);
    }
    return "ended with status %d%s"
        .formatted(process.exitValue(), last.isEmpty() ? "" : ": " + last);
  }

  /** Closes its stdin, by which it should end; ends it with its children if it does not. */
  @Override
  public void close() {
    out.add("");
    try {
      var _ = process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
