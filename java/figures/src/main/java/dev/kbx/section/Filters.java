package dev.kbx.section;

import dev.kbx.analysis.MethodAndModel;
import dev.kbx.document.Cell;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which candidates a cell counts, as the query string of {@link Cell.Link#address}. */
final class Filters {
  /** Stands for a method or model that is not stated. */
  static final String NONE = "not stated";

  private Filters() {}

  /** One filter by its name. */
  static String of(String name, String value) {
    return name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /**
   * The candidates of a method and model.
   *
   * @param filters pairs of another filter and its value
   */
  static String of(MethodAndModel maker, String... filters) {
    StringBuilder all = new StringBuilder(of("method", stated(maker.method())));
    all.append('&').append(of("model", stated(maker.model())));
    for (int i = 0; i < filters.length; i += 2) {
      all.append('&').append(of(filters[i], filters[i + 1]));
    }
    return all.toString();
  }

  private static String stated(@Nullable String name) {
    return Objects.requireNonNullElse(name, NONE);
  }
}
