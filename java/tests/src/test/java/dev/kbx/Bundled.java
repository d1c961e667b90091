package dev.kbx;

import dev.kbx.prompt.Prompts;
import dev.kbx.prompt.Statement;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The bundled prompts, and suites, each read once for all tests of a JVM: parsing one takes
 * seconds.
 */
public final class Bundled {
  private static final Map<String, Suite> SUITES = new ConcurrentHashMap<>();

  private Bundled() {}

  /** What tasks ask for, in the words of {@code prompts/}. */
  public static final Statement STATEMENT = new Statement(Prompts.bundled(Path.of("")));

  /** The suite of that name in {@code tasks/}. */
  public static Suite suite(String name) {
    return SUITES.computeIfAbsent(name, suite -> Suites.open(suite, Path.of("tasks")));
  }
}
