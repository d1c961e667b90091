package dev.kbx.paper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/formats.md has each field that the code reads or writes, and no other. */
class FormatsPageTest {
  private static final Path CANDIDATES = Path.of("src/main/java/dev/kbx/candidate");

  /** Where lines of JSONL files are read. */
  private static final List<String> READERS =
      List.of("CandidateSources.java", "Predictions.java", "TaskNames.java", "Transitions.java");

  private static final Pattern FIELD = Pattern.compile("(?m)^\\| `([a-z_0-9.\\[\\]]+)` \\|");
  private static final Pattern LITERAL = Pattern.compile("\"([a-z]+(?:_[a-z]+)*)\"");

  /** Fields in the tables below a heading, up to the next heading of its level or above. */
  private static List<String> documented(String heading) throws IOException {
    String page = Files.readString(Path.of("docs/formats.md"));
    int from = page.indexOf("\n" + heading + "\n");
    assertThat(from).as(heading).isNotNegative();
    String marks = heading.substring(0, heading.indexOf(' '));
    String rest = page.substring(from + heading.length() + 1);
    var next = Pattern.compile("(?m)^#{2," + marks.length() + "} ").matcher(rest);
    String section = next.find() ? rest.substring(0, next.start()) : rest;
    return FIELD.matcher(section).results().map(field -> field.group(1)).toList();
  }

  private static List<String> fields(Class<?> record) {
    List<String> fields = new ArrayList<>();
    for (RecordComponent each : record.getRecordComponents()) {
      if (each.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
        fields.addAll(fields(each.getType()));
        continue;
      }
      JsonProperty renamed = each.getAccessor().getAnnotation(JsonProperty.class);
      add(fields, renamed == null ? Csv.column(each.getName()) : renamed.value(), each);
    }
    return fields;
  }

  private static void add(List<String> fields, String name, RecordComponent component) {
    Class<?> type = component.getType();
    String prefix = name + ".";
    if (type == List.class) {
      Type of = ((ParameterizedType) component.getGenericType()).getActualTypeArguments()[0];
      type = (Class<?>) of;
      prefix = name + "[].";
    }
    if (!type.isRecord()) {
      fields.add(name);
      return;
    }
    for (String inner : fields(type)) fields.add(prefix + inner);
  }

  private static List<String> columns(Class<? extends Record> type) {
    return Arrays.stream(type.getRecordComponents())
        .map(column -> Csv.column(column.getName()))
        .toList();
  }

  @Test
  void verdictsAreDescribed() throws Exception {
    assertThat(documented("## results.jsonl"))
        .containsExactlyInAnyOrderElementsOf(fields(Verdict.class));
  }

  @Test
  void runsAreDescribed() throws Exception {
    assertThat(documented("## Runs")).containsExactlyInAnyOrderElementsOf(fields(RunInfo.class));
  }

  @Test
  void columnsAreDescribedInTheirOrder() throws Exception {
    assertThat(documented("### verdicts")).isEqualTo(columns(VerdictColumns.class));
    assertThat(documented("### sizes")).isEqualTo(columns(SizeColumns.class));
  }

  @Test
  void theReportIsDescribed() throws Exception {
    assertThat(documented("## All analyses")).isEqualTo(columns(Publication.class));
  }

  @Test
  void theSchemaIsDescribed() throws Exception {
    assertThat(Files.readString(Path.of("docs/formats.md")))
        .contains("This is schema " + DataFiles.SCHEMA + ":")
        .contains("| `schema` | integer | " + DataFiles.SCHEMA + " |");
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
