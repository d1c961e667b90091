package dev.kbx.cli;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Some of many files, the same in every build, so that every kind is among them. */
final class Samples {
  private Samples() {}

  /** The first of each kind, and then every {@code step}-th of it. */
  static <T> List<T> ofEachKind(Collection<T> all, int step, Function<T, Object> kind) {
    Map<Object, Integer> seen = new HashMap<>();
    List<T> some = new ArrayList<>();
    for (T each : all) {
      if ((seen.merge(kind.apply(each), 1, Integer::sum) - 1) % step == 0) some.add(each);
    }
    return some;
  }
}
