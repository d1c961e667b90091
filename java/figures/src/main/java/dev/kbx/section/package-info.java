/**
 * What analyses say, as sections of a document: one class for each analysis, the same tables and
 * words for every medium.
 */
@NullMarked
package dev.kbx.section;

import org.jspecify.annotations.NullMarked;
