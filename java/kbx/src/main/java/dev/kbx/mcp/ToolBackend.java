package dev.kbx.mcp;

import dev.kbx.error.KbxException;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.plan.Grade;
import dev.kbx.prompt.Statement;
import dev.kbx.store.RunStore;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the tools work with: the user's own machine, or a server as one of its clients may use it.
 * Safe for several threads. What a caller can correct is a {@link KbxException}.
 */
public interface ToolBackend {
  /** What a tool does, as the scopes of tokens name it. */
  enum Scope {
    SUBMIT,
    READ,
    ADMIN
  }

  /**
   * A kernel to judge.
   *
   * @param task null if it is judged by a reference
   * @param reference {@code FILE} or {@code FILE:NAME}; null if it is judged by a task
   */
  record Kernel(@Nullable Task task, @Nullable String reference, String source, Grade grade) {}

  /**
   * What became of a kernel.
   *
   * @param id of the verdict, {@code RUN/POSITION}; what {@link #verdictId} takes while there is
   *     none
   * @param task that it was judged by
   * @param source that was judged, without what else the answer had
   * @param verdict null if it still waits
   * @param left judgements that the caller has left; null for no limit
   */
  record Judged(
      String id, Task task, String source, @Nullable Verdict verdict, @Nullable Integer left) {}

  /** Throws unless the caller has the scope. */
  void need(Scope scope);

  /** The suites; the first is that of tasks that are named without one. */
  List<Suite> suites() throws InterruptedException;

  Statement statement();

  /** Finds syntax errors; closed by the caller. */
  SyntaxCheck syntax();

  /** The devices that judge. */
  List<JudgingDevice> devices() throws InterruptedException;

  /** The store with the verdicts, to be read; not closed by the caller. */
  RunStore store();

  /** An interpreter with PyTorch, if there is one. */
  Optional<Path> python();

  /** Judges a kernel; blocks until there is a verdict, or the caller should rather ask later. */
  Judged judge(Kernel kernel) throws InterruptedException;

  /** The id {@code RUN/POSITION} of a verdict by that of its judgement, or by itself. */
  default String verdictId(String id) throws InterruptedException {
    return id;
  }

  /** What the caller is told of an error, in one line. */
  default String told(KbxException error) {
    return String.valueOf(error.getMessage());
  }
}
