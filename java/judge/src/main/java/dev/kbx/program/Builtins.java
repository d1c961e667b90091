package dev.kbx.program;

import java.util.Set;

/** Names that every Python module has without binding them. */
final class Builtins {
  static final Set<String> NAMES =
      Set.of(
          ("__import__ __build_class__ __name__ __file__ __doc__ __loader__ __package__ __spec__"
                  + " abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable"
                  + " chr classmethod compile complex copyright credits delattr dict dir divmod"
                  + " enumerate eval exec exit filter float format frozenset getattr globals"
                  + " hasattr hash help hex id input int isinstance issubclass iter len license"
                  + " list locals map max memoryview min next object oct open ord pow print"
                  + " property quit range repr reversed round set setattr slice sorted"
                  + " staticmethod str sum super tuple type vars zip Ellipsis NotImplemented"
                  + " ArithmeticError AssertionError AttributeError BaseException"
                  + " BaseExceptionGroup BufferError EOFError Exception ExceptionGroup"
                  + " FileExistsError FileNotFoundError FloatingPointError GeneratorExit IOError"
                  + " ImportError IndexError InterruptedError KeyError KeyboardInterrupt"
                  + " LookupError MemoryError ModuleNotFoundError NameError NotImplementedError"
                  + " OSError OverflowError PermissionError RecursionError ReferenceError"
                  + " RuntimeError RuntimeWarning StopIteration SyntaxError SystemError SystemExit"
                  + " TimeoutError TypeError UnicodeDecodeError UnicodeError UserWarning ValueError"
                  + " Warning ZeroDivisionError DeprecationWarning")
              .split(" "));

  private Builtins() {}
}
