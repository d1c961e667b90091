package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The method and the model that wrote candidates.
 *
 * @param method null if not stated, as is {@code model}
 */
public record MethodAndModel(@Nullable String method, @Nullable String model)
    implements Comparable<MethodAndModel> {
  private static final Comparator<MethodAndModel> ORDER =
      Comparator.comparing(MethodAndModel::method, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(MethodAndModel::model, Comparator.nullsFirst(Comparator.naturalOrder()));

  /** The method and model of a row. */
  public static MethodAndModel of(VerdictRow row) {
    return new MethodAndModel(row.method(), row.model());
  }

  /** Rows by method and model, in that order; rows of one keep theirs. */
  public static Map<MethodAndModel, List<VerdictRow>> group(Collection<VerdictRow> rows) {
    Map<MethodAndModel, List<VerdictRow>> makers = new HashMap<>();
    for (VerdictRow row : rows) {
      makers.computeIfAbsent(of(row), _ -> new ArrayList<>()).add(row);
    }
    return new TreeMap<>(makers);
  }

  @Override
  public int compareTo(MethodAndModel other) {
    return ORDER.compare(this, other);
  }
}
