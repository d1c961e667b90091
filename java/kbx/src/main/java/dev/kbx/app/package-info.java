/**
 * What kbx does, without a command line: judge sources into a run, let methods write kernels, find
 * runs, import results. {@link dev.kbx.app.Kbx} is the entry of Java programs, {@link
 * dev.kbx.app.Evaluation} that of {@code kbx eval}.
 *
 * <p>Nothing here parses options, prints, or ends the process. What a user can correct is a {@link
 * dev.kbx.app.InputException}; what is worth telling meanwhile goes to an {@link
 * dev.kbx.app.Observer}.
 */
@NullMarked
package dev.kbx.app;

import org.jspecify.annotations.NullMarked;
