package dev.kbx.document;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.Template;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Sections as HTML elements, which a page puts into its own. All text is escaped. */
public final class HtmlRenderer {
  private static final Template SECTION = template("section");

  private HtmlRenderer() {}

  private static Template template(String name) {
    String file = "/document/%s.mustache".formatted(name);
    try (Reader reader =
        new InputStreamReader(
            Objects.requireNonNull(HtmlRenderer.class.getResourceAsStream(file), file),
            StandardCharsets.UTF_8)) {
      return Mustache.compiler().strictSections(true).compile(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A {@code section} element with a heading of the second level. */
  public static String render(Section section) {
    return SECTION.execute(
        Map.of(
            "id", section.id(),
            "title", Text.clean(section.title()),
            "blocks", section.blocks().stream().map(HtmlRenderer::values).toList()));
  }

  /** The block under the name of its kind; the other kinds are false. */
  private static Map<String, Object> values(Block block) {
    return switch (block) {
      case Block.Prose prose -> of("prose", Map.of("text", Text.clean(prose.text())));
      case Block.Note note -> of("note", Map.of("text", Text.clean(note.text())));
      case Block.Source source -> of("source", Map.of("text", source.text()));
      case Block.Table table -> of("table", values(table));
    };
  }

  private static Map<String, Object> of(String kind, Object values) {
    return Map.of(
        "prose", kind.equals("prose") ? values : false,
        "note", kind.equals("note") ? values : false,
        "source", kind.equals("source") ? values : false,
        "table", kind.equals("table") ? values : false);
  }

  private static Map<String, Object> values(Block.Table table) {
    List<Map<String, Object>> columns = new ArrayList<>();
    for (Column column : table.columns()) {
      columns.add(Map.of("head", Text.clean(column.head()), "number", column.number()));
    }
    return Map.of(
        "id",
        table.id(),
        "caption",
        Text.clean(table.caption()),
        "columns",
        columns,
        "rows",
        table.rows().stream().map(row -> Map.of("cells", cells(table, row))).toList());
  }

  private static List<Map<String, Object>> cells(Block.Table table, List<Cell> row) {
    List<Map<String, Object>> cells = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) {
      cells.add(
          Map.of(
              "text", Text.clean(row.get(i).text()),
              "number", table.columns().get(i).number(),
              "missing", row.get(i) instanceof Cell.Missing));
    }
    return cells;
  }
}
