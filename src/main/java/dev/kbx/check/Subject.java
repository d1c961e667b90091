package dev.kbx.check;

import dev.kbx.program.Program;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What rules look at: a program, and the task it answers where that is known. What several rules
 * ask of it is found once. Belongs to one thread.
 */
public final class Subject {
  private final Program program;
  private final Optional<Task> task;
  private final Optional<Entry> entry;
  private final Judged judged;
  private final Functions functions;
  private final Optional<String> entryName;
  private @Nullable Launching launching;

  /**
   * @param task null for a file that is checked by itself
   */
  public Subject(Program program, @Nullable Task task) {
    this.program = program;
    this.task = Optional.ofNullable(task);
    this.functions = new Functions(program);
    this.entryName =
        this.task.flatMap(
            t -> t.entries().stream().filter(n -> !program.paths(n).isEmpty()).findFirst());
    this.entry = entryName.map(name -> new Entry(program, functions, name));
    this.judged = new Judged(program, entryName);
  }

  public Program program() {
    return program;
  }

  /** Empty for a file that is checked by itself. */
  public Optional<Task> task() {
    return task;
  }

  /** Empty for a file that is checked without a task, or whose entry cannot be told. */
  Optional<Entry> entry() {
    return entry;
  }

  /** Whether results must come from Triton kernels of the file; false for imported tasks. */
  boolean enforced() {
    return task.map(Policy::of).filter(Policy::enforced).isPresent();
  }

  /** Which calls launch kernels. */
  Launching launching() {
    Launching known = launching;
    if (known == null) launching = known = new Launching(program, functions, entryName);
    return known;
  }

  /** What of the program may run while it is judged. */
  Judged judged() {
    return judged;
  }
}
