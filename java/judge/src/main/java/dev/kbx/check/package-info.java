/**
 * The static stage: rules that check candidates without running them. Start with {@link
 * dev.kbx.check.StaticCheck}.
 *
 * <p>It saves time and explains rejections; it is never the only line of defence. This package
 * knows neither processes nor stores.
 */
@NullMarked
package dev.kbx.check;

import org.jspecify.annotations.NullMarked;
