/**
 * Methods that write kernels, as pure functions: from a task and the {@link dev.kbx.method.History}
 * of what happened to the {@link dev.kbx.method.Next} things to do. They know no files, clocks,
 * processes or networks; {@code generate} does what they ask for and records every {@link
 * dev.kbx.method.Event}. So a recorded history leads to the same decisions again.
 */
@NullMarked
package dev.kbx.method;

import org.jspecify.annotations.NullMarked;
