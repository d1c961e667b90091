/**
 * What every candidate of a run goes through, {@link dev.kbx.plan.Plan}: stages, limits, tolerance,
 * baseline, and the seeds of its inputs. Plain data.
 */
@NullMarked
package dev.kbx.plan;

import org.jspecify.annotations.NullMarked;
