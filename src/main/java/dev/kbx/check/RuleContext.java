package dev.kbx.check;

import dev.kbx.program.Program;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a rule checks: a program, and its task where that is known. Analyses that several rules use
 * are computed once. Belongs to one thread.
 */
final class RuleContext {
  private final Program program;
  private final Optional<Task> task;
  private final Optional<EntryAnalysis> entry;
  private final ReachableCode reachable;
  private final ScopeIndex functions;
  private final Optional<String> entryName;
  private @Nullable LaunchAnalysis launching;

  /**
   * @param task null for a file that is checked by itself
   */
  RuleContext(Program program, @Nullable Task task) {
    this.program = program;
    this.task = Optional.ofNullable(task);
    this.functions = new ScopeIndex(program);
    this.entryName =
        this.task.flatMap(
            t -> t.entries().stream().filter(n -> !program.paths(n).isEmpty()).findFirst());
    this.entry = entryName.map(name -> new EntryAnalysis(program, functions, name));
    this.reachable = new ReachableCode(program, entryName);
  }

  Program program() {
    return program;
  }

  /** Empty for a file that is checked by itself. */
  Optional<Task> task() {
    return task;
  }

  /** Empty for a file that is checked without a task, or without a known entry. */
  Optional<EntryAnalysis> entry() {
    return entry;
  }

  /** Whether results must come from Triton kernels of the file; false for imported tasks. */
  boolean enforced() {
    return task.map(Policy::of).filter(Policy::enforced).isPresent();
  }

  /** The calls that launch kernels. */
  LaunchAnalysis launching() {
    LaunchAnalysis known = launching;
    if (known == null) launching = known = new LaunchAnalysis(program, functions, entryName);
    return known;
  }

  /** The part of the program that may run while kbx judges it. */
  ReachableCode reachable() {
    return reachable;
  }
}
