package dev.kbx;

import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The bundled suites, each read once for all tests of a JVM: parsing one takes seconds. */
public final class Bundled {
  private static final Map<String, Suite> SUITES = new ConcurrentHashMap<>();

  private Bundled() {}

  /** The suite of that name in {@code tasks/}. */
  public static Suite suite(String name) {
    return SUITES.computeIfAbsent(name, suite -> Suites.open(suite, Path.of("tasks")));
  }
}
