package dev.kbx.dashboard;

import dev.kbx.document.Block;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.section.RatesSection;
import dev.kbx.stats.Rate;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.verdict.BriefVerdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parts that several pages have. */
final class Parts {
  private static final int MESSAGE = 200;

  private Parts() {}

  static Markup link(String address, @Nullable Object text) {
    return Markup.of("<a href=\"%s\">%s</a>", address, text);
  }

  static Markup time(Instant instant) {
    return Markup.of("<time datetime=\"%s\">%s</time>", instant, Cell.time(instant).text());
  }

  static String lasted(Duration time) {
    return Cell.seconds(time.toMillis() / 1_000.0).text();
  }

  /** What made a candidate. */
  static String maker(@Nullable String method, @Nullable String model) {
    return Objects.requireNonNullElse(method, "no method stated")
        + (model == null ? "" : " · " + model);
  }

  static Markup fact(String name, @Nullable Object value) {
    return Markup.of("<div><dt>%s</dt><dd>%s</dd></div>", name, value);
  }

  static Markup note(Object text) {
    return Markup.of("<p class=\"note\">%s</p>", text);
  }

  static Markup none(String text) {
    return Markup.of("<p class=\"none\">%s</p>", text);
  }

  static Markup section(String id, String title, Markup content) {
    return Markup.of("<section id=\"%s\">\n<h2>%s</h2>\n%s\n</section>\n", id, title, content);
  }

  /** A section with links to other pages. */
  static Markup section(Section section) {
    return new Markup(HtmlRenderer.render(section, ""));
  }

  static Tile rate(String name, long passes, long total, String of) {
    return total == 0
        ? new Tile(name, Cell.text("nothing judged"), "")
        : new Tile(
            name,
            RatesSection.share(new Rate(passes, total)),
            "%,d of %,d %s".formatted(passes, total, of));
  }

  static Cell rate(long passes, long total) {
    if (total == 0) return Cell.missing();
    Rate rate = new Rate(passes, total);
    return Cell.rate(passes, total, rate.value(), rate.low(), rate.high());
  }

  static Markup tiles(String id, String title, List<Tile> tiles) {
    return section(new Section(id, title, List.of(new Block.Tiles(tiles))));
  }

  static <T> Markup table(String id, String caption, List<Column.Of<T>> columns, List<T> rows) {
    Block.Table table = Block.Table.of(id, caption, columns, rows);
    return new Markup(HtmlRenderer.render(columns.size() > 2 ? table.stack() : table, ""));
  }

  /** A column of links. */
  static <T> Column.Of<T> links(String head, Function<T, String> text, Function<T, String> to) {
    return new Column.Of<>(
        Column.text(head), each -> Cell.link(Cell.text(text.apply(each)), to.apply(each)));
  }

  /** A table of verdicts, each linking to its candidate. */
  static Markup verdicts(List<Placed> placed, boolean withRun) {
    if (placed.isEmpty()) return none("No verdicts.");
    Function<Placed, String> to = each -> Links.candidate(each.verdict(), each.position());
    List<Column.Of<Placed>> columns = new ArrayList<>();
    if (withRun) {
      columns.add(links("run", each -> each.verdict().run(), to));
      columns.add(Column.text("device", each -> each.verdict().device().name()));
    } else {
      columns.add(links("task", each -> task(each.verdict()), to));
    }
    columns.add(Column.text("method", each -> method(each.verdict())));
    columns.add(
        new Column.Of<>(
            Column.text("status"), each -> RatesSection.label(each.verdict().status())));
    columns.add(Column.number("speedup", each -> RatesSection.speedup(each.verdict().speedup())));
    columns.add(Column.text("reason", each -> cut(each.verdict().message())));
    return table("verdicts", "", columns, placed);
  }

  private static String task(BriefVerdict v) {
    return v.category() + "/" + v.task() + (v.sample() == 0 ? "" : "#" + v.sample());
  }

  private static String method(BriefVerdict v) {
    return maker(v.method(), v.model()) + (v.round() == null ? "" : ", round " + v.round());
  }

  private static String cut(@Nullable String text) {
    return Text.cut(Text.clean(text), MESSAGE);
  }

  /**
   * Links to the pages before and after.
   *
   * @param parameters of the address, without the page
   */
  static Markup pages(
      String path, List<Map.Entry<String, String>> parameters, int page, int size, int total) {
    int last = Math.max(0, (total - 1) / size);
    if (last == 0) return Markup.NONE;
    return Markup.of(
        """
        <nav class="pages" aria-label="Pages of the table">%s<span>page %,d of %,d</span>%s</nav>
        """,
        page == 0 ? Markup.NONE : to(path, parameters, page - 1, "← before"),
        page + 1,
        last + 1,
        page >= last ? Markup.NONE : to(path, parameters, page + 1, "next →"));
  }

  private static Markup to(
      String path, List<Map.Entry<String, String>> parameters, int page, String text) {
    List<Map.Entry<String, String>> all = new ArrayList<>(parameters);
    all.add(Map.entry("page", page == 0 ? "" : String.valueOf(page)));
    return link(Links.query(path, all), text);
  }
}
