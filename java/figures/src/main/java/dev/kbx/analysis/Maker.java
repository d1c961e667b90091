package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What made candidates.
 *
 * @param method null if not stated, as is {@code model}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Maker(@Nullable String method, @Nullable String model) implements Comparable<Maker> {
  private static final Comparator<Maker> ORDER =
      Comparator.comparing(Maker::method, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(Maker::model, Comparator.nullsFirst(Comparator.naturalOrder()));

  static Maker of(VerdictRow row) {
    return new Maker(row.method(), row.model());
  }

  /** Rows by maker, in its order and theirs. */
  public static Map<Maker, List<VerdictRow>> group(Collection<VerdictRow> rows) {
    Map<Maker, List<VerdictRow>> makers = new HashMap<>();
    for (VerdictRow row : rows) {
      makers.computeIfAbsent(of(row), _ -> new ArrayList<>()).add(row);
    }
    return new TreeMap<>(makers);
  }

  @Override
  public int compareTo(Maker other) {
    return ORDER.compare(this, other);
  }
}
