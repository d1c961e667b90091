package dev.kbx.syntax;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A tree in the parser's memory and a cursor over it, by the parser's C interface.
 *
 * <p>The library's Java bindings look up classes and fields by name in every call, which makes
 * reading a tree ten times slower than parsing. Here they only load the library. Belongs to one
 * thread.
 */
final class NativeTree implements AutoCloseable {
  /** {@code TSNode}. */
  private static final StructLayout NODE =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(4, JAVA_INT), ADDRESS, ADDRESS);

  /** {@code TSTreeCursor}. */
  private static final StructLayout CURSOR =
      MemoryLayout.structLayout(
          ADDRESS,
          ADDRESS,
          MemoryLayout.sequenceLayout(3, JAVA_INT),
          MemoryLayout.paddingLayout(4));

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup LIBRARY = SymbolLookup.loaderLookup();

  private static final MethodHandle PYTHON =
      slow("tree_sitter_python", FunctionDescriptor.of(ADDRESS));
  private static final MethodHandle PARSER_NEW =
      slow("ts_parser_new", FunctionDescriptor.of(ADDRESS));
  private static final MethodHandle PARSER_DELETE =
      slow("ts_parser_delete", FunctionDescriptor.ofVoid(ADDRESS));
  private static final MethodHandle SET_LANGUAGE =
      slow("ts_parser_set_language", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));
  private static final MethodHandle PARSE =
      slow(
          "ts_parser_parse_with_options",
          FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, NativeInput.INPUT, NativeInput.OPTIONS));
  private static final MethodHandle TREE_DELETE =
      slow("ts_tree_delete", FunctionDescriptor.ofVoid(ADDRESS));
  private static final MethodHandle ROOT =
      slow("ts_tree_root_node", FunctionDescriptor.of(NODE, ADDRESS));
  private static final MethodHandle CURSOR_NEW =
      slow("ts_tree_cursor_new", FunctionDescriptor.of(CURSOR, NODE));
  private static final MethodHandle CURSOR_DELETE =
      slow("ts_tree_cursor_delete", FunctionDescriptor.ofVoid(ADDRESS));
  private static final MethodHandle FIRST_CHILD = step("ts_tree_cursor_goto_first_child");
  private static final MethodHandle NEXT_SIBLING = step("ts_tree_cursor_goto_next_sibling");
  private static final MethodHandle PARENT = step("ts_tree_cursor_goto_parent");
  private static final MethodHandle CURRENT =
      quick("ts_tree_cursor_current_node", FunctionDescriptor.of(NODE, ADDRESS));
  private static final MethodHandle FIELD =
      quick("ts_tree_cursor_current_field_id", FunctionDescriptor.of(JAVA_SHORT, ADDRESS));
  private static final MethodHandle SYMBOL =
      quick("ts_node_symbol", FunctionDescriptor.of(JAVA_SHORT, NODE));
  private static final MethodHandle START =
      quick("ts_node_start_byte", FunctionDescriptor.of(JAVA_INT, NODE));
  private static final MethodHandle END =
      quick("ts_node_end_byte", FunctionDescriptor.of(JAVA_INT, NODE));
  private static final MethodHandle MISSING =
      quick("ts_node_is_missing", FunctionDescriptor.of(JAVA_BOOLEAN, NODE));
  private static final MethodHandle HAS_ERROR =
      quick("ts_node_has_error", FunctionDescriptor.of(JAVA_BOOLEAN, NODE));

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment tree;
  private final MemorySegment cursor;
  private final SegmentAllocator scratch;
  private MemorySegment node;

  private NativeTree(MemorySegment tree) throws Throwable {
    this.tree = tree;
    scratch = SegmentAllocator.prefixAllocator(arena.allocate(NODE));
    node = (MemorySegment) ROOT.invokeExact(scratch, tree);
    cursor = (MemorySegment) CURSOR_NEW.invokeExact((SegmentAllocator) arena, node);
  }

  /** Parses UTF-8, the cursor at the root; null if that takes too long. */
  static @Nullable NativeTree of(byte[] source) {
    try (Arena memory = Arena.ofConfined();
        NativeInput input = new NativeInput(source, memory)) {
      MemorySegment parser = (MemorySegment) PARSER_NEW.invokeExact();
      try {
        var _ = (boolean) SET_LANGUAGE.invokeExact(parser, (MemorySegment) PYTHON.invokeExact());
        MemorySegment tree =
            (MemorySegment)
                PARSE.invokeExact(parser, MemorySegment.NULL, input.input(), input.options());
        return tree.equals(MemorySegment.NULL) ? null : new NativeTree(tree);
      } finally {
        PARSER_DELETE.invokeExact(parser);
      }
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  boolean gotoFirstChild() {
    return go(FIRST_CHILD);
  }

  boolean gotoNextSibling() {
    return go(NEXT_SIBLING);
  }

  /** The parent cannot be queried: this only leads to its sibling. */
  boolean gotoParent() {
    try {
      return (boolean) PARENT.invokeExact(cursor);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  private boolean go(MethodHandle step) {
    try {
      if (!(boolean) step.invokeExact(cursor)) return false;
      node = (MemorySegment) CURRENT.invokeExact(scratch, cursor);
      return true;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** The number of the node's kind; unsigned. */
  int symbol() {
    try {
      return (short) SYMBOL.invokeExact(node) & 0xffff;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** The number of the node's role in its parent; 0 for none. */
  int field() {
    try {
      return (short) FIELD.invokeExact(cursor) & 0xffff;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** The node's first byte. */
  int start() {
    try {
      return (int) START.invokeExact(node);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** The byte after its last. */
  int end() {
    try {
      return (int) END.invokeExact(node);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Inserted by the parser to recover from an error. */
  boolean missing() {
    try {
      return (boolean) MISSING.invokeExact(node);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Something at or below it could not be parsed. */
  boolean hasError() {
    try {
      return (boolean) HAS_ERROR.invokeExact(node);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  @Override
  public void close() {
    try {
      CURSOR_DELETE.invokeExact(cursor);
      TREE_DELETE.invokeExact(tree);
    } catch (Throwable e) {
      throw failed(e);
    } finally {
      arena.close();
    }
  }

  private static MethodHandle step(String name) {
    return quick(name, FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS));
  }

  @SuppressWarnings("restricted") // The launcher allows native access.
  private static MethodHandle slow(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(LIBRARY.findOrThrow(name), type);
  }

  /** For functions that return at once: no transition for the garbage collector. */
  @SuppressWarnings("restricted")
  private static MethodHandle quick(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(
        LIBRARY.findOrThrow(name), type, Linker.Option.critical(/* allowHeapAccess= */ false));
  }

  private static IllegalStateException failed(Throwable e) {
    if (e instanceof Error error) throw error;
    return new IllegalStateException("the parser's library cannot be called", e);
  }

  /**
   * Callbacks of the parser: they provide the text and stop it after some processor time, which a
   * busy machine does not shorten: the same source is parsed or given up everywhere. Error recovery
   * takes time that is quadratic in the source.
   *
   * <p>The functions that the parser calls are made once: to make them takes as long as to parse a
   * kernel. They find the input of their thread, which stays the same while the parser runs.
   */
  private static final class NativeInput implements AutoCloseable {
    /** {@code TSInput}. */
    static final StructLayout INPUT =
        MemoryLayout.structLayout(
            ADDRESS, ADDRESS, JAVA_INT, MemoryLayout.paddingLayout(4), ADDRESS);

    /** {@code TSParseOptions}. */
    static final StructLayout OPTIONS = MemoryLayout.structLayout(ADDRESS, ADDRESS);

    /** {@code TSPoint}. */
    private static final StructLayout POINT = MemoryLayout.structLayout(JAVA_INT, JAVA_INT);

    /** The read callback; it writes the number of bytes. */
    @SuppressWarnings("restricted") // The parser passes a place for one number.
    private static final FunctionDescriptor READ =
        FunctionDescriptor.of(
            ADDRESS, ADDRESS, JAVA_INT, POINT, ADDRESS.withTargetLayout(JAVA_INT));

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
}
