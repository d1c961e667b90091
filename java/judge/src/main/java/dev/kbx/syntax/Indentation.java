package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Python's rules of indentation, over logical lines: a block is indented after a colon that ends a
 * line and nowhere else, and a line that ends a block returns to the indentation of one around it.
 */
final class Indentation {
  private static final int TAB = 8;

  /**
   * How far a line is indented.
   *
   * @param wide with tabs to every eighth column
   * @param narrow with tabs of one column: Python refuses lines that only compare with one width
   */
  private record Margin(int wide, int narrow) {}

  private final Deque<Margin> open = new ArrayDeque<>();
  private boolean expected;

  Indentation() {
    open.push(new Margin(0, 0));
  }

  /** The last logical line ended in a colon. */
  void expectBlock() {
    expected = true;
  }

  /** The error of a logical line that is indented by these blanks; null if there is none. */
  @Nullable String error(String blanks) {
    Margin margin = measure(blanks);
    Margin outer = open.element();
    boolean block = expected;
    expected = false;
    if (margin.wide <= outer.wide) {
      if (block) return "expected an indented block";
      while (margin.wide < open.element().wide) open.pop();
      if (margin.wide != open.element().wide) {
        return "unindent does not match any outer indentation level";
      }
      return margin.narrow == open.element().narrow ? null : mixed();
    }
    if (margin.narrow <= outer.narrow) return mixed();
    if (!block) return "unexpected indent";
    open.push(margin);
    return null;
  }

  /** The error of a file that ends here; null if there is none. */
  @Nullable String end() {
    return expected ? "expected an indented block" : null;
  }

  private static String mixed() {
    return "inconsistent use of tabs and spaces in indentation";
  }

  private static Margin measure(String blanks) {
    int wide = 0;
    int narrow = 0;
    for (int i = 0; i < blanks.length(); i++) {
      switch (blanks.charAt(i)) {
        case '\t' -> {
          wide = (wide / TAB + 1) * TAB;
          narrow++;
        }
        case '\f' -> {
          wide = 0;
          narrow = 0;
        }
        case '\ufeff' -> {}
        default -> {
          wide++;
          narrow++;
        }
      }
    }
    return new Margin(wide, narrow);
  }
}
