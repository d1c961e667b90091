/**
 * The Python interpreter that workers run in: found, checked, or provisioned once. Start with
 * {@link dev.kbx.python.PythonEnvironment}.
 *
 * <p>Independent of what the interpreter is used for.
 */
@NullMarked
package dev.kbx.python;

import org.jspecify.annotations.NullMarked;
