package dev.kbx.report;

import java.io.IOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * How other harnesses handle cheats: a tab-separated table in the resources, a cheat a line.
 *
 * <p>Columns: the cheat, a cell for each harness, and the names of our own mechanisms that try the
 * same, separated by commas. A cell is {@code y}, {@code p} or {@code n} (caught, partly, not) and
 * how that is known: {@code V} run on a CPU, {@code G} run on an H200, {@code R} read in the
 * source, {@code I} inferred from what was read. Empty: not known.
 */
final class OtherHarnesses {
  private static final String FILE = "other-harnesses.tsv";
  private static final Map<Character, String> MARKS = Map.of('y', "✓", 'p', "~", 'n', "✗");

  private OtherHarnesses() {}

  /**
   * Writes the table in Markdown.
   *
   * @param ours describes the result of our mechanisms
   */
  static void write(Writer out, Function<List<String>, String> ours) throws IOException {
    List<String[]> rows =
        Html.resource(FILE)
            .lines()
            .filter(line -> !line.isBlank())
            .map(line -> line.split("\t", -1))
            .toList();
    String[] head = rows.getFirst();
    int last = head.length - 1;
    out.write(
        "| cheat | kbx | %s |\n".formatted(String.join(" | ", Arrays.copyOfRange(head, 1, last))));
    out.write("|---".repeat(head.length) + "|\n");
    for (String[] row : rows.subList(1, rows.size())) {
      List<String> cells = Arrays.stream(row, 1, last).map(OtherHarnesses::cell).toList();
      String fared = ours.apply(List.of(row[last].split(",", -1)));
      out.write("| %s | %s | %s |\n".formatted(row[0], fared, String.join(" | ", cells)));
    }
  }

  private static String cell(String text) {
    if (text.isEmpty()) return "";
    return MARKS.get(text.charAt(0)) + " " + text.substring(1);
  }
}
