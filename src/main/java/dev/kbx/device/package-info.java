/**
 * The processes that candidates meet and the GPUs they share: {@link dev.kbx.device.Workers} makes
 * {@link dev.kbx.device.Slot}s; a {@link dev.kbx.device.Gpu} is leased, shared or alone, and keeps
 * oracles and warm runners. Knows nothing of stages.
 */
@NullMarked
package dev.kbx.device;

import org.jspecify.annotations.NullMarked;
