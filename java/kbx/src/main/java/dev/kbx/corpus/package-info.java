/**
 * The bundled cheats and honest kernels: the expected verdict in each file's header, compared with
 * the actual one. Start with {@link dev.kbx.corpus.Trials}.
 */
@NullMarked
package dev.kbx.corpus;

import org.jspecify.annotations.NullMarked;
