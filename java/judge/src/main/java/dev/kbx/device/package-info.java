/**
 * Slots, GPUs and worker processes. Start with {@link dev.kbx.device.Workers}, which makes {@link
 * dev.kbx.device.Slot}s. A {@link dev.kbx.device.Gpu} has a shared-exclusive lock, oracles and warm
 * runners. Independent of stages.
 */
@NullMarked
package dev.kbx.device;

import org.jspecify.annotations.NullMarked;
