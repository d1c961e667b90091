package dev.kbx;

import dev.kbx.python.Interpreter;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.python.PythonProblem;
import dev.kbx.python.PythonSyntax;
import dev.kbx.python.TextProgress;
import dev.kbx.syntax.SyntaxCheck;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The interpreter that tests run workers with: the one {@code kbx} itself would use, so that {@code
 * mvn verify} sets itself up on a fresh machine and later runs share the environment.
 *
 * <p>Provisioned when the first test asks, not before: {@code -Dtest=...} of a test without Python
 * downloads nothing. Ask in a {@code @BeforeAll}, outside a test's time limit.
 */
public final class TestPython {
  private TestPython() {}

  /** Shown on the console, where surefire leaves System.err. */
  public static TextProgress progress() {
    return new TextProgress(System.err, null);
  }

  public static Path home() {
    return Path.of("").toAbsolutePath();
  }

  public static Interpreter interpreter() {
    return Holder.INTERPRETER;
  }

  /** What that interpreter says of syntax; its process ends with the tests. */
  public static SyntaxCheck syntax() {
    return Syntax.CHECK;
  }

  private static final class Syntax {
    static final SyntaxCheck CHECK =
        new PythonSyntax(() -> Optional.of(interpreter().executable()), home());
  }

  private static final class Holder {
    static final Interpreter INTERPRETER = resolve();

    private static Interpreter resolve() {
      try {
        return PythonEnvironment.resolve(Optional.empty(), System.getenv(), home(), progress());
      } catch (PythonProblem e) {
        throw new AssertionError(e.getMessage() + "\n" + String.join("\n", e.details()), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted while Python was being installed", e);
      }
    }
  }
}
