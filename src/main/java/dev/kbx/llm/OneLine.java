package dev.kbx.llm;

/** Text of others in a message of one line. */
final class OneLine {
  private static final int LONGEST = 300;

  private OneLine() {}

  /** Without control characters and repeated spaces, cut after {@value #LONGEST} characters. */
  static String of(String text) {
    String line = text.replaceAll("[\\p{Cntrl}\\p{Cf}\\s]+", " ").strip();
    if (line.codePointCount(0, line.length()) <= LONGEST) return line;
    return line.substring(0, line.offsetByCodePoints(0, LONGEST)) + "…";
  }
}
