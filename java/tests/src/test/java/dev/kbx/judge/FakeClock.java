package dev.kbx.judge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The time of fake workers and of who waits for them: it passes where their script says that they
 * take some, and however busy the machine is, nowhere else.
 */
public final class FakeClock implements LongSupplier {
  /** A byte for each millisecond that has passed: several processes may append at once. */
  private final Path passed;

  private final Path python;

  private FakeClock(Path passed, Path python) {
    this.passed = passed;
    this.python = python;
  }

  /** A clock whose files are in {@code folder}. */
  public static FakeClock in(Path folder) throws IOException {
    Path passed = folder.resolve("passed").toAbsolutePath();
    if (!Files.exists(passed)) Files.createFile(passed);
    Path python = folder.resolve("python").toAbsolutePath();
    Files.writeString(
        python,
        "#!/bin/sh\nKBX_FAKE_CLOCK='%s' exec '%s' \"$@\"\n".formatted(passed, FakeWorkers.PYTHON));
    Files.setPosixFilePermissions(python, PosixFilePermissions.fromString("rwx------"));
    return new FakeClock(passed, python);
  }

  /** Python for workers that take their time by this clock. */
  Path python() {
    return python;
  }

  @Override
  public long getAsLong() {
    try {
      return TimeUnit.MILLISECONDS.toNanos(Files.size(passed));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
