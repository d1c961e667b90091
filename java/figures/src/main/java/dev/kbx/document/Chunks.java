package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;

/** Long lists in parts that fit a page. */
final class Chunks {
  private Chunks() {}

  static <T> List<List<T>> of(List<T> all, int most) {
    List<List<T>> parts = new ArrayList<>();
    for (int from = 0; from < all.size(); from += most) {
      parts.add(all.subList(from, Math.min(all.size(), from + most)));
    }
    return parts;
  }

  /** {@code name} alone if there is one part, else {@code name-1, name-2, …}. */
  static String id(String name, int part, int parts) {
    return parts == 1 ? name : name + "-" + (part + 1);
  }
}
