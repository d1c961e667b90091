package dev.kbx.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.FieldDocs;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.RunInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * docs/formats.md has each field that the code reads or writes, and no other. {@link FieldDocs}
 * makes its tables of fields.
 */
class FormatsPageTest {
  private static final Path PAGE = Path.of("docs/formats.md");
  private static final Path CONTRACT =
      Path.of("java/kbx/src/main/resources/dev/kbx/server/openapi.yaml");
  private static final Path CANDIDATES = Path.of("java/judge/src/main/java/dev/kbx/candidate");

  /** Where lines of JSONL files are read. */
  private static final List<String> READERS =
      List.of("CandidateSources.java", "Predictions.java", "TaskNames.java", "Transitions.java");

  private static final Pattern FIELD = Pattern.compile("(?m)^\\| `([a-z_0-9.\\[\\]]+)` \\|");
  private static final Pattern LITERAL = Pattern.compile("\"([a-z]+(?:_[a-z]+)*)\"");

  /** Fields in the tables below a heading, up to the next heading of its level or above. */
  private static List<String> documented(String heading) throws IOException {
    String page = Files.readString(PAGE);
    int from = page.indexOf("\n" + heading + "\n");
    assertThat(from).as(heading).isNotNegative();
    String marks = heading.substring(0, heading.indexOf(' '));
    String rest = page.substring(from + heading.length() + 1);
    var next = Pattern.compile("(?m)^#{2," + marks.length() + "} ").matcher(rest);
    String section = next.find() ? rest.substring(0, next.start()) : rest;
    return FIELD.matcher(section).results().map(field -> field.group(1)).toList();
  }

  private static List<String> columns(Class<? extends Record> type) {
    return Arrays.stream(type.getRecordComponents())
        .map(column -> Fields.snakeCase(column.getName()))
        .toList();
  }

  @Test
  void verdictsAreDescribed() throws Exception {
    FieldDocs.table(PAGE, "## results.jsonl", Fields.VERDICT.all());
    FieldDocs.schema(CONTRACT, "Verdict", Fields.VERDICT.all());
  }

  @Test
  void runsAreDescribed() throws Exception {
    List<Field<RunInfo>> fields = Fields.of(RunInfo.class).all();
    FieldDocs.table(PAGE, "## Runs", fields);
    FieldDocs.schema(CONTRACT, "Run", fields);
  }

  @Test
  void columnsAreDescribed() throws Exception {
    FieldDocs.table(PAGE, "### verdicts", Columns.VERDICTS);
    FieldDocs.table(PAGE, "### sizes", Columns.SIZES);
  }

  @Test
  void theReportIsDescribed() throws Exception {
    assertThat(documented("## All analyses")).isEqualTo(columns(Publication.class));
  }

  @Test
  void theSchemaIsDescribed() throws Exception {
    assertThat(Files.readString(PAGE)).contains("This is schema " + Columns.SCHEMA + ":");
  }

  /** Names of members are literals in lines of code about a row, or in a list of such names. */
  @Test
  void predictionsAreDescribed() throws Exception {
    Set<String> read = new TreeSet<>();
    for (String name : READERS) {
      for (String line : Files.readAllLines(CANDIDATES.resolve(name))) {
        if (!line.contains("row")
            && !line.contains("List.of(")
            && !line.matches(".*(PREDICT|CONDITIONS) =.*")) {
          continue;
        }
        LITERAL.matcher(line).results().map(MatchResult::group).forEach(read::add);
      }
    }
    Set<String> names =
        read.stream().map(literal -> literal.replace("\"", "")).collect(Collectors.toSet());
    Set<String> described = new TreeSet<>(documented("### Predictions"));
    assertThat(described).containsExactlyInAnyOrderElementsOf(names);
  }
}
