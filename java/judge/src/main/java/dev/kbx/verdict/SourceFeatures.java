package dev.kbx.verdict;

import dev.kbx.verdict.Fields.Doc;
import java.util.List;

/**
 * What a candidate's source is like, found when it is judged, so that no analysis parses sources.
 */
public record SourceFeatures(
    @Doc("fingerprint of the syntax without names, constants, comments and layout, hex")
        String structure,
    @Doc("cyclomatic complexity of the file: 1 + decision points") int complexity,
    @Doc("lines of code: neither blank nor just comment or docstring") int lines,
    @Doc("[optimization techniques](analysis.md) seen in the source, by name, sorted")
        List<String> techniques) {
  public SourceFeatures {
    techniques = techniques == null ? List.of() : List.copyOf(techniques);
  }
}
