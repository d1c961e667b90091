/**
 * Errors that end a command or a call of the Java API, by who can mend them: {@link
 * dev.kbx.error.InputException} by other input, {@link dev.kbx.error.EnvironmentException} by
 * another state of the machine, a network or a database. Any other exception is a fault of kbx.
 */
@NullMarked
package dev.kbx.error;

import org.jspecify.annotations.NullMarked;
