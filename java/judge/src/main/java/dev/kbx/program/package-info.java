/**
 * Static analysis of a Python program: name resolution by data-flow analysis, calls with their
 * arguments, Triton kernels and their launches. Start with {@link dev.kbx.program.Program}.
 *
 * <p>The rules that use it are in {@code check}. This package knows neither candidates nor tasks.
 */
@NullMarked
package dev.kbx.program;

import org.jspecify.annotations.NullMarked;
