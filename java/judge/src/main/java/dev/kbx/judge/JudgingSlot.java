package dev.kbx.judge;

import dev.kbx.device.Slot;
import dev.kbx.syntax.SyntaxCheck;
import org.jspecify.annotations.Nullable;

/**
 * A slot, with what is known about its GPU and the binaries of earlier compilations.
 *
 * @param gpu null for a slot on the CPU
 * @param syntax finds syntax errors; shared by all slots
 */
record JudgingSlot(Slot slot, BinaryCache binaries, @Nullable SharedGpu gpu, SyntaxCheck syntax) {}
