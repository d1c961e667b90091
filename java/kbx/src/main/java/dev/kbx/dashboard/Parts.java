package dev.kbx.dashboard;

import dev.kbx.report.Components;
import dev.kbx.stats.Rate;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parts that several pages have. */
final class Parts {
  private static final DateTimeFormatter MINUTE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final int MESSAGE = 200;

  private Parts() {}

  static Markup link(String address, @Nullable Object text) {
    return Markup.of("<a href=\"%s\">%s</a>", address, text);
  }

  static Markup badge(Status status) {
    return new Markup(Components.badge(status));
  }

  static Markup time(Instant instant) {
    return Markup.of("<time datetime=\"%s\">%s</time>", instant, MINUTE.format(instant));
  }

  static String lasted(Duration time) {
    if (time.toMinutes() == 0) return time.toSeconds() + " s";
    return time.toHours() == 0
        ? "%d min %d s".formatted(time.toMinutes(), time.toSecondsPart())
        : "%d h %d min".formatted(time.toHours(), time.toMinutesPart());
  }

  /** Who made a candidate; what is not stated is said to be so. */
  static Markup maker(@Nullable String method, @Nullable String model) {
    Markup first =
        method == null
            ? new Markup("<span class=\"unknown\">no method stated</span>")
            : Markup.of("%s", method);
    return model == null ? first : first.and(Markup.of("<small>%s</small>", model));
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

  static Markup rateTile(String name, long passes, long total, String of) {
    if (total == 0) {
      return Markup.of(
          "<div class=\"tile\"><h2>%s</h2><p class=\"figure unknown\">nothing judged</p></div>",
          name);
    }
    Rate rate = new Rate(passes, total);
    return Markup.of(
        """
        <div class="tile"><h2>%s</h2><p class="figure">%s</p>%s<p>%,d of %,d %s<br>95 %% interval %s</p></div>
        """,
        name,
        Components.percent(rate.value()),
        new Markup(Components.bar(rate)),
        passes,
        total,
        of,
        Components.interval(rate));
  }

  static Markup tile(String name, @Nullable Object figure, @Nullable Object what) {
    return Markup.of(
        "<div class=\"tile\"><h2>%s</h2><p class=\"figure\">%s</p><p>%s</p></div>",
        name, figure, what);
  }

  static Markup tiles(String label, Markup... tiles) {
    return Markup.of(
        "<section class=\"tiles\" aria-label=\"%s\">%s</section>",
        label, Markup.each(List.of(tiles), tile -> tile));
  }

  /**
   * Statuses with bars.
   *
   * @param address of the page that shows those with a status, which is appended; empty for none
   */
  static Markup statuses(Map<Status, Integer> counts, String address) {
    int most = counts.values().stream().mapToInt(c -> c).max().orElse(1);
    return Markup.of(
        "<ul class=\"statuses\">%s</ul>",
        Markup.each(
            counts.entrySet(),
            each ->
                Markup.of(
                    "<li><span class=\"name\">%s</span>%s<span class=\"count\">%,d</span></li>",
                    address.isEmpty()
                        ? badge(each.getKey())
                        : link(address + each.getKey().label(), badge(each.getKey())),
                    new Markup(
                        Components.statusBar(each.getKey(), (double) each.getValue() / most)),
                    each.getValue())));
  }

  static Markup speedup(@Nullable Speedup speedup) {
    if (speedup == null) return Markup.NONE;
    return Markup.of(
        "%s× <small>%s–%s</small>", two(speedup.value()), two(speedup.low()), two(speedup.high()));
  }

  static String two(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  /** A table of verdicts, each linking to its candidate. */
  static Markup verdicts(List<Placed> placed, boolean withRun) {
    if (placed.isEmpty()) return none("No verdicts.");
    return Markup.of(
        """
        <table class="listed">
        <thead><tr><th scope="col">%s</th><th scope="col">Method</th><th scope="col">Status</th>\
        <th scope="col" class="number">Speedup</th><th scope="col">Reason</th></tr></thead>
        <tbody>
        %s
        </tbody>
        </table>
        """,
        withRun ? "Run" : "Task", Markup.each(placed, each -> row(each, withRun)));
  }

  private static Markup row(Placed placed, boolean withRun) {
    BriefVerdict v = placed.verdict();
    String sample = v.sample() == 0 ? "" : "#" + v.sample();
    Markup what =
        withRun
            ? Markup.of("%s<small>%s</small>", v.run(), device(v))
            : Markup.of("%s/%s%s", v.category(), v.task(), sample);
    return Markup.of(
        """
        <tr><th scope="row">%s</th><td data-name="Method">%s%s</td><td>%s</td>\
        <td class="number" data-name="Speedup">%s</td><td class="reason">%s</td></tr>
        """,
        link(Links.candidate(v, placed.position()), what),
        maker(v.method(), v.model()),
        v.round() == null ? Markup.NONE : Markup.of("<small>round %d</small>", v.round()),
        badge(v.status()),
        speedup(v.speedup()),
        cut(v.message()));
  }

  private static String device(BriefVerdict verdict) {
    return verdict.device().name();
  }

  private static String cut(@Nullable String text) {
    if (text == null) return "";
    return text.length() <= MESSAGE ? text : text.substring(0, MESSAGE) + "…";
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
