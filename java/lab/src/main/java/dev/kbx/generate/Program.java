package dev.kbx.generate;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.generate.Program.ProgramPipes.Said;
import dev.kbx.method.Next.Consultation;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.method.ProgramAnswers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The program of an external method in one trajectory. It is started when its first new answer is
 * needed, and told what happened in earlier sessions; its answers must then be those of before.
 */
final class Program implements Consultant {
  private static final String NEXT = "{\"event\":\"next\"}";

  /** Characters of a wrong line that a message shows. */
  private static final int SHOWN = 60;

  private final PreparedMethod.ProgramCommand command;
  private final String assignment;
  private @Nullable ProgramPipes pipes;
  private int answers;

  /**
   * @param assignment the first line for it
   */
  Program(PreparedMethod.ProgramCommand command, String assignment) {
    this.command = command;
    this.assignment = assignment;
  }

  /** The program's next answer. Not for several threads at once. */
  @Override
  public ProgramAnswer answer(Consultation consultation)
      throws ProgramFailure, InterruptedException {
    List<Consultation.Turn> past = consultation.past();
    while (answers < past.size()) {
      int number = answers;
      Consultation.Turn turn = past.get(number);
      if (!isSame(asked(turn.news(), Set.of(), Set.of()), turn.answer())) {
        throw new ProgramFailure(
            "answer %d differs from that before the run was interrupted; the same events must lead to the same answers (no clock, no random numbers without a seed)"
                .formatted(number));
      }
    }
    return asked(consultation.news(), consultation.used(), consultation.kernels());
  }

  /** Costs may differ: what a program asks again may be cached. */
  private static boolean isSame(ProgramAnswer now, ProgramAnswer before) {
    return now.ask().equals(before.ask()) && now.judge().equals(before.judge());
  }

  private ProgramAnswer asked(List<String> news, Set<String> used, Set<String> kernels)
      throws ProgramFailure, InterruptedException {
    ProgramPipes to = pipes == null ? start() : pipes;
    if (to.hasSaid() && answers > 0) throw said(to, "printed a line that nobody asked for");
    if (answers == 0) to.send(assignment);
    news.forEach(to::send);
    to.send(NEXT);
    int number = answers++;
    String line = line(to, number);
    try {
      return new ProgramAnswers(used, kernels).read(line);
    } catch (ProgramAnswers.Invalid e) {
      throw failure("answer %d %s: %s".formatted(number, e.getMessage(), line));
    }
  }

  /** An end that came after the last answer says more than a line. */
  private ProgramFailure said(ProgramPipes from, String what) throws InterruptedException {
    Said said = from.receive(command.timeout());
    return failure(said instanceof Said.Line(String text) ? what + ": " + text : from.ending());
  }

  private ProgramPipes start() throws ProgramFailure {
    try {
      pipes = new ProgramPipes(command);
      return pipes;
    } catch (IOException e) {
      throw failure("cannot be started: " + e.getMessage());
    }
  }

  private String line(ProgramPipes from, int number) throws ProgramFailure, InterruptedException {
    Said said = from.receive(command.timeout());
    return switch (said) {
      case null ->
          throw failure(
              "said nothing for %d s after answer %d was asked for"
                  .formatted(command.timeout().toSeconds(), number));
      case Said.Line(String text) -> command.redact().apply(text);
      case Said.TooLong _ -> throw failure("answer %d is longer than 16 MiB".formatted(number));
      case Said.End _ -> throw failure(from.ending());
    };
  }

  private ProgramFailure failure(String what) {
    String clean = command.redact().apply(what).replaceAll("\\p{Cntrl}+", " ");
    int most = 200 + SHOWN;
    return new ProgramFailure(clean.length() <= most ? clean : clean.substring(0, most) + "…");
  }

  @Override
  public void close() {
    if (pipes != null) pipes.close();
  }

  /**
   * The program of an external method can say no more. The message is one line without its name.
   */
  static final class ProgramFailure extends Exception {
    private static final long serialVersionUID = 1;

    ProgramFailure(String message) {
      super(message);
    }

    String message() {
      return String.valueOf(getMessage());
    }
  }

  /**
   * A process that is talked to in lines. A thread each writes, reads, and keeps the end of stderr,
   * so that a process that does not read blocks nobody.
   */
  static final class ProgramPipes implements AutoCloseable {
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

    ProgramPipes(PreparedMethod.ProgramCommand command) throws IOException {
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
}
