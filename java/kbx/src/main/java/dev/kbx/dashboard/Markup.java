package dev.kbx.dashboard;

import dev.kbx.report.Html;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Collection;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * HTML that is safe to show. Everything put into it is escaped, save numbers and other markup, so
 * that no text of a candidate can be forgotten.
 */
record Markup(String html) {
  static final Markup NONE = new Markup("");

  /** What another component writes. */
  interface Written {
    void to(Writer writer) throws IOException;
  }

  /**
   * A template with its values put in, escaped.
   *
   * @param template markup with {@code %s}, and {@code %,d} for whole numbers
   */
  static Markup of(String template, @Nullable Object... values) {
    @Nullable Object[] safe = new Object[values.length];
    for (int i = 0; i < values.length; i++) safe[i] = safe(values[i]);
    return new Markup(String.format(Locale.ROOT, template, safe));
  }

  private static Object safe(@Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Markup(String html) -> html;
      case Integer number -> number;
      case Long number -> number;
      default -> Html.escape(String.valueOf(value));
    };
  }

  /** Markup of each element, one after the other. */
  static <T> Markup each(Collection<T> all, Function<T, Markup> markup) {
    return new Markup(all.stream().map(markup).map(Markup::html).collect(Collectors.joining("\n")));
  }

  static Markup written(Written component) {
    StringWriter writer = new StringWriter();
    try {
      component.to(writer);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Not into memory.
    }
    return new Markup(writer.toString());
  }

  Markup and(Markup more) {
    return new Markup(html + more.html);
  }
}
