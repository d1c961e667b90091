package dev.kbx.syntax;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Processor time of the operating system's thread that asks. Unlike the clock's it does not pass
 * while other threads have the processor, so that limits hold on a busy machine, too. Java's own
 * figure does not exist for virtual threads; one that is in native code keeps its thread.
 */
final class ThreadTime {
  private static final int CLOCK_THREAD_CPUTIME_ID = 3;
  private static final long NANOS = 1_000_000_000;

  @SuppressWarnings("restricted") // The launcher allows native access.
  private static final MethodHandle CLOCK_GETTIME =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

  /** {@code struct timespec}. */
  private final MemorySegment time;

  /**
   * @param memory outlives this
   */
  ThreadTime(Arena memory) {
    time = memory.allocate(JAVA_LONG, 2);
  }

  /** Nanoseconds since the thread began. */
  long nanos() {
    try {
      int failed = (int) CLOCK_GETTIME.invokeExact(CLOCK_THREAD_CPUTIME_ID, time);
      if (failed != 0) throw new IllegalStateException("no clock of the thread");
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return time.getAtIndex(JAVA_LONG, 0) * NANOS + time.getAtIndex(JAVA_LONG, 1);
  }
}
