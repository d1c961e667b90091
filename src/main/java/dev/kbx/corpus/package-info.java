/**
 * The bundled cheats and honest kernels: what each file says of itself, and whether it was judged
 * so. Start with {@link dev.kbx.corpus.Trials}.
 */
@NullMarked
package dev.kbx.corpus;

import org.jspecify.annotations.NullMarked;
