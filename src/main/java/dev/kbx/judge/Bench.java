package dev.kbx.judge;

import dev.kbx.device.Slot;
import org.jspecify.annotations.Nullable;

/**
 * A slot with what judging has found out about its GPU and what candidates were compiled to before.
 *
 * @param gpu null where the slot is on the CPU
 */
record Bench(Slot slot, BinaryCache binaries, @Nullable GpuBench gpu) {}
