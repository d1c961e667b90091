/**
 * Python source as a syntax tree, behind one type: {@link dev.kbx.syntax.PythonSource}. The parser
 * (tree-sitter) is not named anywhere else.
 */
@NullMarked
package dev.kbx.syntax;

import org.jspecify.annotations.NullMarked;
