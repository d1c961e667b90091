package dev.kbx.document;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.Template;
import dev.kbx.files.Resources;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sections as HTML elements, which a page puts into its own. All text is escaped. Shares have a bar
 * below them, and ratios with intervals a point on an axis that the column shares.
 */
public final class HtmlRenderer {
  private static final List<String> KINDS =
      List.of("prose", "note", "source", "diff", "tiles", "figure", "table");

  private static final Template SECTION = template("section");
  private static final Template BLOCKS = template("blocks");

  /** What addresses of links begin with; null where these lead nowhere. */
  private final @Nullable String page;

  private HtmlRenderer(@Nullable String page) {
    this.page = page;
  }

  private static Template template(String name) {
    String file = "/document/%s.mustache".formatted(name);
    return Mustache.compiler()
        .strictSections(true)
        .compile(Resources.text(HtmlRenderer.class, file));
  }

  /** A {@code section} element with a heading of the second level; links lead nowhere. */
  public static String render(Section section) {
    return new HtmlRenderer(null).html(section);
  }

  /**
   * Renders a section with links.
   *
   * @param page what {@link Cell.Link#address} is appended to, such as {@code #}, unless it is that
   *     of another page
   */
  public static String render(Section section, String page) {
    return new HtmlRenderer(page).html(section);
  }

  /** One block with links, for a page's own section. */
  public static String render(Block block, String page) {
    return new HtmlRenderer(page).html(List.of(block));
  }

  private String html(Section section) {
    return SECTION.execute(
        Map.of(
            "id", section.id(),
            "title", Text.clean(section.title()),
            "folded", section.folded(),
            "content", html(section.blocks())));
  }

  private String html(List<Block> blocks) {
    return BLOCKS.execute(Map.of("blocks", blocks.stream().map(this::values).toList()));
  }

  /** The block under the name of its kind; the other kinds are false. */
  private Map<String, Object> values(Block block) {
    return switch (block) {
      case Block.Prose prose -> of("prose", Map.of("text", Text.clean(prose.text())));
      case Block.Note note -> of("note", Map.of("text", Text.clean(note.text())));
      case Block.Source source -> of("source", Map.of("text", Text.visible(source.text())));
      case Block.Diff diff -> of("diff", values(diff));
      case Block.Tiles tiles ->
          of("tiles", Map.of("tiles", tiles.tiles().stream().map(this::values).toList()));
      case Figure figure ->
          of(
              "figure",
              Map.of("svg", SvgFigure.of(figure), "caption", Text.clean(figure.caption())));
      case Block.Table table -> of("table", values(table));
    };
  }

  private static Map<String, Object> of(String kind, Object values) {
    Map<String, Object> kinds = new HashMap<>();
    for (String each : KINDS) kinds.put(each, each.equals(kind) ? values : false);
    return kinds;
  }

  private static Map<String, Object> values(Block.Diff diff) {
    List<Map<String, Object>> lines = new ArrayList<>();
    for (String line : Text.visible(diff.text()).lines().toList()) {
      String kind =
          switch (line.isEmpty() ? ' ' : line.charAt(0)) {
            case '+' -> "added";
            case '-' -> "removed";
            case '@' -> "hunk";
            default -> "same";
          };
      lines.add(Map.of("kind", kind, "text", line));
    }
    return Map.of("title", Text.clean(diff.title()), "lines", lines);
  }

  private Map<String, Object> values(Block.Tile tile) {
    Map<String, Object> values = cell(tile.figure(), Axis.of(List.of(tile.figure())));
    values.put("title", Text.clean(tile.title()));
    values.put("brief", Text.clean(tile.figure().brief()));
    String interval = tile.figure().text().substring(tile.figure().brief().length()).strip();
    values.put("interval", interval.isEmpty() ? false : "95 % interval " + interval);
    values.put("remark", Text.clean(tile.remark()));
    return values;
  }

  private Map<String, Object> values(Block.Table table) {
    List<Map<String, Object>> columns = new ArrayList<>();
    List<Axis> axes = new ArrayList<>();
    for (int i = 0; i < table.columns().size(); i++) {
      int index = i;
      Column column = table.columns().get(i);
      axes.add(Axis.of(table.rows().stream().map(row -> row.get(index)).toList()));
      columns.add(
          Map.of(
              "head", Text.clean(column.head()),
              "number", column.number(),
              "upright", column.upright()));
    }
    return Map.of(
        "id",
        table.id(),
        "stacked",
        table.stacked(),
        "caption",
        table.caption().isEmpty() ? false : Text.clean(table.caption()),
        "label",
        Text.clean(table.columns().getFirst().head()),
        "columns",
        columns,
        "rows",
        table.rows().stream().map(row -> Map.of("cells", cells(table, row, axes))).toList());
  }

  private List<Map<String, Object>> cells(Block.Table table, List<Cell> row, List<Axis> axes) {
    List<Map<String, Object>> cells = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) {
      Map<String, Object> cell = cell(row.get(i), axes.get(i));
      cell.put("number", table.columns().get(i).number());
      cell.put("head", table.stacked() ? Text.clean(table.columns().get(i).head()) : false);
      cells.add(cell);
    }
    return cells;
  }

  private Map<String, Object> cell(Cell cell, Axis axis) {
    Cell shown = cell instanceof Cell.Link link ? link.shown() : cell;
    String address = cell instanceof Cell.Link link ? address(link) : null;
    Map<String, Object> values = new HashMap<>();
    values.put("text", Text.clean(shown.text()));
    values.put("missing", shown instanceof Cell.Missing);
    values.put("link", address == null ? false : address);
    values.put(
        "tone",
        shown instanceof Cell.Label label ? label.tone().name().toLowerCase(Locale.ROOT) : false);
    values.put("bar", bar(shown));
    values.put("point", axis.point(shown));
    return values;
  }

  private @Nullable String address(Cell.Link link) {
    if (link.address().startsWith("/")) return link.address();
    return page == null ? null : page + link.address();
  }

  private static Object bar(Cell cell) {
    Cell.Share share = cell instanceof Cell.Rate rate ? rate.share() : null;
    if (cell instanceof Cell.Share own) share = own;
    if (share == null) return false;
    double low = share.low() == null ? share.share() : share.low();
    double high = share.high() == null ? low : share.high();
    return Map.of(
        "fill", place(share.share()), "low", place(low), "width", place(Math.max(0, high - low)));
  }

  /** In hundredths of the whole. */
  private static String place(double part) {
    return String.format(Locale.ROOT, "%.1f", 100 * part);
  }

  /** A logarithmic axis of the ratios of a column, and of 1. */
  private record Axis(double low, double high) {
    private static final double MARGIN = 1.05;

    static Axis of(List<Cell> column) {
      double low = 1;
      double high = 1;
      for (Cell cell : column) {
        if (!(cell instanceof Cell.Ratio ratio) || !isDrawn(ratio)) continue;
        low = Math.min(low, Objects.requireNonNull(ratio.low()));
        high = Math.max(high, Objects.requireNonNull(ratio.high()));
      }
      return new Axis(low / MARGIN, high * MARGIN);
    }

    private static boolean isDrawn(Cell.Ratio ratio) {
      return ratio.low() != null
          && ratio.high() != null
          && ratio.low() > 0
          && !ratio.high().isInfinite();
    }

    Object point(Cell cell) {
      if (!(cell instanceof Cell.Ratio ratio) || !isDrawn(ratio)) return false;
      return Map.of(
          "one", x(1),
          "low", x(Objects.requireNonNull(ratio.low())),
          "high", x(Objects.requireNonNull(ratio.high())),
          "value", x(ratio.ratio()));
    }

    private String x(double value) {
      return place(Math.log(value / low) / Math.log(high / low));
    }
  }
}
