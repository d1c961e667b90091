package dev.kbx.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.PlainParquet;
import dev.kbx.SimulatedRun;
import dev.kbx.document.Text;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CSV and Parquet have the same rows. */
class DataFilesTest {
  @TempDir private Path folder;

  private final SimulatedRun run =
      SimulatedRun.on(SimulatedRun.H200, 1)
          .by("refine, \"two\"")
          .model("m")
          .round(1)
          .correct("Math/exp", "exp", 1.5)
          .saying("line 1\nline 2, \"quoted\"")
          .wrong("Math/log", "log", Status.WRONG_VALUES);

  private void verdicts(Consumer<Verdict> reader) {
    run.verdicts().forEach(reader);
  }

  @Test
  void csvHasEveryVerdictAndSize() throws Exception {
    new DataFiles(folder).csv(this::verdicts);
    List<List<String>> rows = read(Files.readString(folder.resolve("verdicts.csv")));
    assertThat(rows).hasSize(3).allMatch(row -> row.size() == rows.getFirst().size());
    List<String> head = rows.getFirst();
    assertThat(head).startsWith("schema", "run", "suite", "category", "task", "method");
    assertThat(rows.get(1))
        .contains("1", run.id(), "Math", "exp", "refine, \"two\"", "correct", "true", "1.5");
    assertThat(rows.get(2).get(head.indexOf("message"))).isEqualTo("line 1\nline 2, \"quoted\"");
    assertThat(rows.get(2).get(head.indexOf("speedup"))).isEmpty();
    List<List<String>> sizes = read(Files.readString(folder.resolve("sizes.csv")));
    assertThat(sizes).hasSize(4);
    int shape = sizes.getFirst().indexOf("shape");
    assertThat(sizes.get(3).get(shape)).isEqualTo("(4096,) float32");
    assertThat(sizes.get(3).get(sizes.getFirst().indexOf("size"))).isEqualTo("2");
  }

  @Test
  void parquetEqualsCsv() throws Exception {
    DataFiles files = new DataFiles(folder);
    files.csv(this::verdicts);
    files.parquet(this::verdicts);
    for (String name : List.of("verdicts", "sizes")) {
      assertThat(PlainParquet.read(folder.resolve(name + ".parquet")))
          .isEqualTo(read(Files.readString(folder.resolve(name + ".csv"))));
    }
    assertThat(folder.toFile().list()).hasSize(4);
  }

  @Test
  void anyTextSurvivesCsv() {
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      String one = anyText(random);
      String two = anyText(random);
      StringWriter writer = new StringWriter();
      new DataFiles.Csv<>(PAIR, writer).write(new Pair(one, two));
      assertThat(read(writer.toString()))
          .containsExactly(List.of("one", "two"), List.of(kept(one), kept(two)));
    }
  }

  /** The text as it comes out of a file that is harmless. */
  private static String kept(String text) {
    String visible = Text.visible(text);
    return visible
        .replaceAll("(?<=[;\n\r])([ \"]*)(?==)", "$1'")
        .replaceFirst("^(?=[\n\r]| *=)", "'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=HYPERLINK(\"http://evil.example\",\"report\")",
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1",
        "  =1",
        "x;=HYPERLINK(\"http://evil.example\")",
        "x;  +1",
        "x;-2",
        "x; @SUM(1)",
        "x\t=1",
        "x\t ＝1",
        "x\n=1",
        "x;\"=1\"",
        "x;y;=1"
      })
  void formulasAreEscaped(String text) {
    StringWriter writer = new StringWriter();
    new DataFiles.Csv<>(PAIR, writer).write(new Pair(text, "x" + text));
    List<String> row = read(writer.toString()).get(1);
    assertThat(row.getFirst().replace("'", "")).isEqualTo(Text.visible(text).replace("'", ""));
    assertThat(row.getLast()).startsWith("x");
    // Whatever the reader takes for the end of a cell.
    for (String cell : writer.toString().split("[,;\t\r\n]", -1)) {
      assertThat(cell.strip().replaceFirst("^[\" ]+", "")).doesNotMatch("(?s)[=+@＝-].*");
    }
  }

  private record Figures(@Nullable Double value, int count, boolean flag) {}

  private static final List<Field<Figures>> FIGURES =
      List.of(
          Field.of("value", Field.Type.NUMBER, "value", Figures::value),
          Field.of("count", Field.Type.INTEGER, "count", Figures::count),
          Field.of("flag", Field.Type.BOOLEAN, "flag", Figures::flag));

  @Test
  void numbersAreNotEscaped() {
    StringWriter writer = new StringWriter();
    new DataFiles.Csv<>(FIGURES, writer).write(new Figures(-1.5, -2, true));
    assertThat(read(writer.toString()).get(1)).containsExactly("-1.5", "-2", "true");
  }

  @Test
  void controlCharactersAreEscaped() {
    StringWriter writer = new StringWriter();
    new DataFiles.Csv<>(PAIR, writer).write(new Pair("\u001b[2Jgone", "\u202eevil\u009b1m\u007f"));
    assertThat(read(writer.toString()).get(1))
        .containsExactly("\\u001b[2Jgone", "\\u202eevil\\u009b1m\\u007f");
  }

  private record Pair(String one, String two) {}

  private static final List<Field<Pair>> PAIR =
      List.of(
          Field.of("one", Field.Type.TEXT, "one", Pair::one),
          Field.of("two", Field.Type.TEXT, "two", Pair::two));

  private static String anyText(Random random) {
    String letters = "a,\"\n\r é;=";
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(8);
    for (int i = 0; i < length; i++) text.append(letters.charAt(random.nextInt(letters.length())));
    return text.toString();
  }

  /** RFC 4180. */
  private static List<List<String>> read(String csv) {
    List<List<String>> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < csv.length(); i++) {
      char c = csv.charAt(i);
      if (quoted) {
        if (c != '"') field.append(c);
        else if (i + 1 < csv.length() && csv.charAt(i + 1) == '"') field.append(csv.charAt(++i));
        else quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',' || c == '\n') {
        row.add(field.toString());
        field.setLength(0);
        if (c == '\n') {
          rows.add(row);
          row = new ArrayList<>();
        }
      } else if (c != '\r') {
        field.append(c);
      }
    }
    return rows;
  }
}
