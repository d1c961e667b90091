/**
 * Descriptions of a program that do not judge it: kernels and launches, code quality, fingerprints.
 * Start with {@link dev.kbx.facts.Facts}.
 */
@NullMarked
package dev.kbx.facts;

import org.jspecify.annotations.NullMarked;
