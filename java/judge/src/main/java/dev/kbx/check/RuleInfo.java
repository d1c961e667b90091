package dev.kbx.check;

/**
 * A rule as users see it.
 *
 * @param id lower case with hyphens: {@code patched-timer}; never reused for another meaning
 * @param title what it finds, in a few words
 * @param rationale why it matters, to the author of a kernel
 * @param advice what to do instead, as an instruction
 * @param example Python source in which the rule finds something
 */
public record RuleInfo(
    String id, Severity severity, String title, String rationale, String advice, String example) {}
