/**
 * What can be said of a candidate without judging it: its kernels, how it is written, what it
 * resembles. Start with {@link dev.kbx.facts.Facts}.
 */
@NullMarked
package dev.kbx.facts;

import org.jspecify.annotations.NullMarked;
