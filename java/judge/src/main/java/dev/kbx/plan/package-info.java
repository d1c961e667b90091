/**
 * The settings of a run, {@link dev.kbx.plan.Plan}: stages, limits, tolerance, baseline, and the
 * seeds of inputs. Plain data.
 */
@NullMarked
package dev.kbx.plan;

import org.jspecify.annotations.NullMarked;
