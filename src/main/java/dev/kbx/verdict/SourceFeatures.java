package dev.kbx.verdict;

import java.util.List;

/**
 * What a candidate's source is like, found when it is judged, so that no analysis parses sources.
 *
 * @param structure equal for sources that differ in names, constants, comments and layout alone:
 *     hexadecimal digits
 * @param complexity cyclomatic complexity of the file: 1 plus the number of decision points
 * @param lines lines that are neither blank nor just comment or docstring
 * @param techniques optimization techniques that it attempts, sorted
 */
public record SourceFeatures(String structure, int complexity, int lines, List<String> techniques) {
  public SourceFeatures {
    techniques = techniques == null ? List.of() : List.copyOf(techniques);
  }
}
