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
 *
 * <p>The functions that the parser calls are made once: to make them takes as long as to parse a
 * kernel. They find the input of their thread, which stays the same while the parser runs.
 */
final class NativeInput implements AutoCloseable {
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

  private static final ThreadLocal<NativeInput> CURRENT = new ThreadLocal<>();
  private static final MemorySegment READ_FUNCTION = function("read", READ);
  private static final MemorySegment STOP_FUNCTION = function("stop", STOP);

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
    input.setAtIndex(ADDRESS, 1, READ_FUNCTION);
    options = memory.allocate(OPTIONS);
    options.setAtIndex(ADDRESS, 1, STOP_FUNCTION);
    CURRENT.set(this);
  }

  @Override
  public void close() {
    CURRENT.remove();
  }

  MemorySegment input() {
    return input;
  }

  MemorySegment options() {
    return options;
  }

  /** The text from a byte on. */
  @SuppressWarnings("unused") // The parser calls it.
  private static MemorySegment read(
      MemorySegment payload, int at, MemorySegment point, MemorySegment size) {
    MemorySegment text = CURRENT.get().text;
    long from = Math.min(Integer.toUnsignedLong(at), text.byteSize());
    size.set(JAVA_INT, 0, (int) (text.byteSize() - from));
    return text.asSlice(from);
  }

  @SuppressWarnings("unused") // The parser calls it.
  private static boolean stop(MemorySegment state) {
    NativeInput current = CURRENT.get();
    return current.time.nanos() - current.start > LIMIT;
  }

  @SuppressWarnings("restricted") // The launcher allows native access.
  private static MemorySegment function(String name, FunctionDescriptor type) {
    MethodType signature = type.toMethodType();
    try {
      MethodHandle handle = MethodHandles.lookup().findStatic(NativeInput.class, name, signature);
      return Linker.nativeLinker().upcallStub(handle, type, Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
