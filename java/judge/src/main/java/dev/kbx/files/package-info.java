/**
 * Files that no reader sees half written. Start with {@link dev.kbx.files.AtomicFile}: whatever kbx
 * replaces, results and caches, it replaces by it.
 */
@NullMarked
package dev.kbx.files;

import org.jspecify.annotations.NullMarked;
