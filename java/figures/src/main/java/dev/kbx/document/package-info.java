/**
 * Documents of prose, tables and figures as data, and the renderers that draw any of them: for a
 * terminal, as HTML, LaTeX and Markdown. Begin with {@link dev.kbx.document.Document}. How a number
 * is written is decided in {@link dev.kbx.document.Cell} alone.
 */
@NullMarked
package dev.kbx.document;

import org.jspecify.annotations.NullMarked;
