package dev.kbx.cli;

import dev.kbx.plan.Plan;

/** Reads {@code --arch}. */
final class Architectures {
  private Architectures() {}

  static String check(String arch) {
    if (!Plan.ARCHITECTURES.contains(arch)) {
      throw new UserError(
          "--arch %s: use one of %s".formatted(arch, String.join(", ", Plan.ARCHITECTURES)));
    }
    return arch;
  }
}
