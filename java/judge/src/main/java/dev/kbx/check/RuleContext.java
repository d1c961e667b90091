package dev.kbx.check;

import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a rule checks: a program, and its task where that is known. Analyses that several rules use
 * are computed once. Belongs to one thread.
 */
final class RuleContext {
  private final Program program;
  private final Optional<Task> task;
  private final Policy policy;
  private final Optional<EntryAnalysis> entry;
  private final ReachableCode reachable;
  private final ScopeIndex functions;
  private final Optional<String> entryName;
  private @Nullable LaunchAnalysis launching;
  private @Nullable Set<Scope> kernels;

  /**
   * @param task null for a file that is checked by itself
   * @param policy who may compute the result
   */
  RuleContext(Program program, @Nullable Task task, Policy policy) {
    this.program = program;
    this.task = Optional.ofNullable(task);
    this.policy = policy;
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

  /** Who may compute the result. */
  Policy policy() {
    return policy;
  }

  /**
   * Whether the task itself asks for Triton and nothing else: not modules, imported tasks and
   * references of a user's own.
   */
  boolean wantsTriton() {
    return task.filter(t -> !t.takesCpp() && Policy.usual(t) == Policy.KERNEL).isPresent();
  }

  /** Whether C++ of the file may compute the result, and the file has some. */
  boolean isCpp() {
    return task.filter(Task::takesCpp).isPresent()
        && !reachable.calls(RuleContext::compilesCpp).isEmpty();
  }

  /** Whether a call of that path compiles C++. */
  static boolean compilesCpp(String path) {
    return path.startsWith("torch.utils.cpp_extension.load");
  }

  /** Whether a scope is a kernel or within one. */
  boolean inKernel(Scope scope) {
    Set<Scope> known = kernels;
    if (known == null) {
      kernels = known = program.kernels().stream().map(Kernel::scope).collect(Collectors.toSet());
    }
    Optional<Scope> at = Optional.of(scope);
    while (at.isPresent() && !known.contains(at.get())) at = at.get().parent();
    return at.isPresent();
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
