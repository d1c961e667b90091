package dev.kbx.certify;

/**
 * What of a certificate was computed again.
 *
 * @param verdicts timed ones of which so many {@code sizes} were computed from their rounds
 * @param withoutRounds timed ones with so many {@code sizesWithoutRounds}; their speedups were not
 *     computed
 * @param compiled speedups against compiled references that were computed from the rounds of these
 * @param otherBaselines speedups against compiled references without rounds
 * @param launched sizes with times launched from Python, which were not computed
 * @param deviceUse sizes with rates, limits, clocks or memory, which were not computed
 * @param sources whose hashes were compared, of so many {@code entries}
 */
public record CheckedFigures(
    int verdicts,
    int sizes,
    int withoutRounds,
    int sizesWithoutRounds,
    int compiled,
    int otherBaselines,
    int launched,
    int deviceUse,
    int sources,
    int entries) {}
