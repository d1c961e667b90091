package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A launch of a kernel: {@code kernel[grid](…)}, {@code kernel.run(…, grid=…)}.
 *
 * @param call its scope, place, arguments and keywords
 * @param kernels which it may be; empty where that cannot be read
 * @param gridNode the expression of the grid
 */
public record Launch(Call call, List<Kernel> kernels, @Nullable Node gridNode) {
  public Launch {
    kernels = List.copyOf(kernels);
  }

  /** The expression of the grid; empty for a launch without one. */
  public Optional<Node> grid() {
    return Optional.ofNullable(gridNode);
  }

  /** Where it stands. */
  public Scope scope() {
    return call.scope();
  }
}
