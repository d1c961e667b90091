/**
 * What a Python program means, as far as it can be read: what names stand for, what is called with
 * what, which kernels the entry launches. Start with {@link dev.kbx.program.Program}.
 *
 * <p>Reads and never judges: rules live in {@code check}. Knows nothing of candidates or tasks.
 */
@NullMarked
package dev.kbx.program;

import org.jspecify.annotations.NullMarked;
