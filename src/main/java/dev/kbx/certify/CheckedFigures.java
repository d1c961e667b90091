package dev.kbx.certify;

/**
 * What of a certificate was computed again.
 *
 * @param verdicts timed ones whose figures were computed from their rounds, with so many {@code
 *     sizes}
 * @param withoutRounds timed ones that have no rounds: of an earlier version of kbx
 * @param otherBaselines speedups against compiled references, whose own rounds are not kept
 * @param sources whose hashes were compared
 */
public record CheckedFigures(
    int verdicts, int sizes, int withoutRounds, int otherBaselines, int sources) {}
