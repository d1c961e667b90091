package dev.kbx.facts;

import dev.kbx.program.Program;
import dev.kbx.syntax.CodeSize;
import dev.kbx.verdict.SourceFeatures;

/** What analyses need to know of a source. */
public final class Features {
  /** Digits of a structure: two of a million differ with a chance of 1 in 10²⁵ to be equal. */
  private static final int DIGITS = 32;

  private Features() {}

  /**
   * The features of a program without syntax errors.
   *
   * @param operations number of PyTorch operations of the task's reference
   */
  public static SourceFeatures of(Program program, int operations) {
    CodeSize size = CodeSize.of(program.source()).orElseThrow();
    return new SourceFeatures(
        Fingerprint.of(program.source()).exact().substring(0, DIGITS),
        size.complexity(),
        size.lines(),
        Technique.in(program, operations).stream().map(Technique::label).sorted().toList());
  }
}
