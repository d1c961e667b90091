package dev.kbx.python;

import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.PythonSource.SyntaxError;
import dev.kbx.syntax.SyntaxCheck;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks Python whether source is valid: a process that compiles and runs nothing. It starts with the
 * first question, which takes some 50 ms; an answer takes under one. It ends with this JVM.
 *
 * <p>Where there is no Python, or it is too old, the parser answers.
 */
public final class PythonSyntax implements SyntaxCheck {
  private final Supplier<Optional<Path>> python;
  private final Path script;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Helper helper;
  private boolean absent;

  /**
   * @param python looks for an interpreter, which needs no packages, at the first question
   * @param home kbx's folder, with {@code worker/}
   */
  public PythonSyntax(Supplier<Optional<Path>> python, Path home) {
    this.python = python;
    this.script = home.resolve("worker/kbx/syntax.py");
  }

  /** The process and its pipes. */
  private record Helper(Process process, DataOutputStream requests, BufferedReader answers) {
    /** Isolated and without site packages: no file of anybody else's is imported. */
    static Helper start(Path python, Path script) throws IOException {
      Process process =
          new ProcessBuilder(
                  python.toString(),
                  "-I",
                  "-S",
                  "-B",
                  "-Wignore",
                  script.toAbsolutePath().toString())
              .directory(Path.of("/").toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      Helper started =
          new Helper(
              process,
              new DataOutputStream(process.getOutputStream()),
              new BufferedReader(
                  new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII)));
      var _ = started.answer();
      return started;
    }

    String ask(byte[] source) throws IOException {
      requests.writeInt(source.length);
      requests.write(source);
      requests.flush();
      return answer();
    }

    private String answer() throws IOException {
      String line = answers.readLine();
      if (line != null) return line;
      process.destroyForcibly();
      throw new EOFException();
    }
  }

  @Override
  public Optional<SyntaxError> error(PythonSource source) {
    Optional<SyntaxError> parsed = source.error();
    if (parsed.isPresent() && parsed.get().certain()) return parsed;
    lock.lock();
    try {
      if (helper == null && !absent) helper = started();
      if (helper == null) return parsed;
      return told(helper.ask(source.text().getBytes(StandardCharsets.UTF_8)), source);
    } catch (IOException e) {
      helper = null; // This source ended it; the next one gets another.
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Helper started() {
    try {
      Optional<Path> found = python.get();
      if (found.isPresent()) return Helper.start(found.get(), script);
    } catch (IOException e) {
      // It does not run, or is too old: as good as none.
    }
    absent = true;
    return null;
  }

  /** {@code line column message}, with columns in code points. */
  private static Optional<SyntaxError> told(String answer, PythonSource source) {
    if (answer.isEmpty()) return Optional.empty();
    String[] parts = answer.split(" ", 3);
    int line = Integer.parseInt(parts[0]);
    String text = source.text().lines().skip(line - 1L).findFirst().orElse("");
    int before = Math.min(Integer.parseInt(parts[1]) - 1, text.codePointCount(0, text.length()));
    return Optional.of(
        new SyntaxError(
            line, 1 + text.offsetByCodePoints(0, before), text.strip(), parts[2], true));
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (helper != null) helper.process().destroy();
      helper = null;
    } finally {
      lock.unlock();
    }
  }
}
