package dev.kbx.syntax;

/**
 * A range of columns in one source line, as compilers print it.
 *
 * @param line from 1
 * @param column of its first character in the line, from 1
 * @param end column after its last character on that line
 * @param text the whole line, without its break
 */
public record Place(int line, int column, int end, String text) {}
