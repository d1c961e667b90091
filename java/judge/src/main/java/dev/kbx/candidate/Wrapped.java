package dev.kbx.candidate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What a wrapper of a reply holds.
 *
 * @param rule the kind of wrapper
 * @param start where the content begins in the reply
 * @param end where it ends
 * @param content unescaped
 */
record Wrapped(String rule, int start, int end, String content) {
  static final String JSON = "json";
  static final String XML = "xml";

  /** The contents of JSON and XML wrappers that are in no other one, in order. */
  static List<Wrapped> in(String text) {
    List<Wrapped> all = new ArrayList<>(QuotedCode.values(text));
    all.addAll(TaggedCode.contents(text));
    all.sort(Comparator.comparingInt(Wrapped::start));
    List<Wrapped> outer = new ArrayList<>();
    for (Wrapped each : all) {
      if (outer.isEmpty() || outer.getLast().end() <= each.start()) outer.add(each);
    }
    return outer;
  }
}
