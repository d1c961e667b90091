package dev.kbx.check;

import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** The scopes that Triton compiles. */
final class KernelCode {
  private final Set<Scope> kernels = new HashSet<>();

  KernelCode(Program program) {
    for (Kernel kernel : program.kernels()) kernels.add(kernel.scope());
  }

  /** Whether a scope is a kernel or within one. */
  boolean holds(Scope scope) {
    Optional<Scope> at = Optional.of(scope);
    while (at.isPresent() && !kernels.contains(at.get())) at = at.get().parent();
    return at.isPresent();
  }
}
