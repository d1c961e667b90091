/**
 * The command line: a class for each command under {@link dev.kbx.cli.Main}, terminal output and
 * progress.
 *
 * <p>Errors become one line and an {@link dev.kbx.cli.ExitCode} here.
 */
@NullMarked
package dev.kbx.cli;

import org.jspecify.annotations.NullMarked;
