/**
 * The tasks of a benchmark: names, categories, signatures, statements, paths of task files. Start
 * with {@link dev.kbx.task.Suites}.
 *
 * <p>Task files are read as syntax trees; nothing here runs Python.
 */
@NullMarked
package dev.kbx.task;

import org.jspecify.annotations.NullMarked;
