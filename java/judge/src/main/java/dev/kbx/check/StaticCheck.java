package dev.kbx.check;

import dev.kbx.candidate.Candidate;
import dev.kbx.program.Program;
import dev.kbx.syntax.Place;
import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.PythonSource.SyntaxError;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Checks source without running it. In doubt source passes: it is run. */
public final class StaticCheck {
  private static final Place START = new Place(1, 1, 1, "");

  private final Rules rules;
  private final Optional<Policy> policy;
  private final SyntaxCheck syntax;

  /** Checks by each task's own policy, without Python. */
  StaticCheck(Rules rules) {
    this(rules, Optional.empty(), SyntaxCheck.PARSER);
  }

  /**
   * @param policy who may compute results; empty for each task's own
   * @param syntax finds syntax errors
   */
  public StaticCheck(Rules rules, Optional<Policy> policy, SyntaxCheck syntax) {
    this.rules = rules;
    this.policy = policy;
    this.syntax = syntax;
  }

  /** Checks a candidate against its task. */
  public StaticReport check(Candidate candidate) {
    return check(candidate.code(), candidate.task());
  }

  /**
   * Checks a candidate whose program is already analysed.
   *
   * @param task the candidate's, in the dtype that it is judged in
   */
  public StaticReport check(Candidate candidate, Program program, Task task) {
    return check(program, candidate.code(), task);
  }

  /** Checks source against a task. With a null task no entry is required. */
  public StaticReport check(String code, @Nullable Task task) {
    PythonSource source = PythonSource.parse(code);
    return check(Program.of(source), code, task);
  }

  private StaticReport check(Program program, String code, @Nullable Task task) {
    InvalidSource broken = broken(program.source(), code, task).orElse(null);
    boolean python = broken == null || broken.status() == Status.NO_ENTRY;
    return new StaticReport(
        broken, python ? rules.check(new RuleContext(program, task, policy(task))) : List.of());
  }

  private Policy policy(@Nullable Task task) {
    return policy.orElseGet(() -> task == null ? Policy.KERNEL : Policy.usual(task));
  }

  private Optional<InvalidSource> broken(PythonSource source, String code, @Nullable Task task) {
    Optional<SyntaxError> wrong = syntax.error(source);
    // Python that the parser does not understand may hold anything.
    boolean unclear = wrong.isEmpty() && !source.understood();
    if (!source.hasCode() && !unclear && !source.bindsDynamically()) {
      return Optional.of(
          new InvalidSource(Status.NO_CODE, START, "the answer holds no Python source"));
    }
    if (wrong.isPresent()) {
      SyntaxError error = wrong.get();
      // The unstripped line: columns count from its start.
      String line = code.lines().skip(error.line() - 1).findFirst().orElse("");
      Place place = new Place(error.line(), error.column(), error.column() + 1, line);
      return Optional.of(new InvalidSource(Status.SYNTAX_ERROR, place, error.message()));
    }
    if (task != null
        && source.understood()
        && !source.bindsDynamically()
        && !defines(source, task)) {
      String message = "nothing at top level is called " + String.join(" or ", task.entries());
      return Optional.of(new InvalidSource(Status.NO_ENTRY, START, message));
    }
    return Optional.empty();
  }

  private static boolean defines(PythonSource source, Task task) {
    return task.entries().stream().anyMatch(source.names()::contains);
  }
}
