package dev.kbx.syntax;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;

/**
 * Callbacks of the parser: they provide the text and stop it after some processor time, which a
 * busy machine does not shorten: the same source is parsed or given up everywhere. Error recovery
 * takes time that is quadratic in the source.
 */
final class NativeInput {
  /** {@code TSInput}. */
  static final StructLayout INPUT =
      MemoryLayout.structLayout(ADDRESS, ADDRESS, JAVA_INT, MemoryLayout.paddingLayout(4), ADDRESS);

  /** {@code TSParseOptions}. */
  static final StructLayout OPTIONS = MemoryLayout.structLayout(ADDRESS, ADDRESS);

  /** {@code TSPoint}. */
  private static final StructLayout POINT = MemoryLayout.structLayout(JAVA_INT, JAVA_INT);

  /** The read callback; it writes the number of bytes. */
  @SuppressWarnings("restricted") // The parser passes a place for one number.
  private static final FunctionDescriptor READ =
      FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, POINT, ADDRESS.withTargetLayout(JAVA_INT));

  private static final FunctionDescriptor STOP = FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS);

  /** Usual source takes milliseconds. */
  private static final long LIMIT = Duration.ofSeconds(2).toNanos();

  private final MemorySegment text;
  private final MemorySegment input;
  private final MemorySegment options;
  private final ThreadTime time;
  private final long start;

  NativeInput(byte[] source, Arena memory) {
    time = new ThreadTime(memory);
    start = time.nanos();
    text = memory.allocateFrom(JAVA_BYTE, source);
    // The encoding's number is 0: UTF-8.
    input = memory.allocate(INPUT);
    input.setAtIndex(ADDRESS, 1, function("read", READ, memory));
    options = memory.allocate(OPTIONS);
    options.setAtIndex(ADDRESS, 1, function("stop", STOP, memory));
  }

  MemorySegment input() {
    return input;
  }

  MemorySegment options() {
    return options;
  }

  /** The text from a byte on. */
  @SuppressWarnings("unused") // The parser calls it.
  private MemorySegment read(
      MemorySegment payload, int at, MemorySegment point, MemorySegment size) {
    long from = Math.min(Integer.toUnsignedLong(at), text.byteSize());
    size.set(JAVA_INT, 0, (int) (text.byteSize() - from));
    return text.asSlice(from);
  }

  @SuppressWarnings("unused") // The parser calls it.
  private boolean stop(MemorySegment state) {
    return time.nanos() - start > LIMIT;
  }

  @SuppressWarnings("restricted") // The launcher allows native access.
  private MemorySegment function(String name, FunctionDescriptor type, Arena memory) {
    MethodType signature = type.toMethodType();
    try {
      MethodHandle handle = MethodHandles.lookup().bind(this, name, signature);
      return Linker.nativeLinker().upcallStub(handle, type, memory);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
