package dev.kbx.judge;

import dev.kbx.device.Slot;
import org.jspecify.annotations.Nullable;

/**
 * A slot, with what is known about its GPU and the binaries of earlier compilations.
 *
 * @param gpu null for a slot on the CPU
 */
record Bench(Slot slot, BinaryCache binaries, @Nullable GpuBench gpu) {}
