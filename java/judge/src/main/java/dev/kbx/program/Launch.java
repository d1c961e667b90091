package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A launch of a kernel: {@code kernel[grid](…)}, {@code kernel.run(…, grid=…)}.
 *
 * @param call the launch itself
 * @param kernels that it may launch; empty if unknown
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

  /** The scope that it is in. */
  public Scope scope() {
    return call.scope();
  }
}
