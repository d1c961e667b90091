package dev.kbx.program;

import dev.kbx.program.AbstractValue.Container;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a call.
 *
 * @param positional in order, up to the first star
 * @param named by keyword
 * @param starred what {@code *} unpacks, and what comes after, in order
 * @param mapped what {@code **} unpacks
 */
record Arguments(
    List<ValueSet> positional,
    Map<String, ValueSet> named,
    List<ValueSet> starred,
    List<ValueSet> mapped) {
  static final Arguments NONE = of();

  /** Elements of a starred argument; longer ones are not spread. */
  private static final int MAX_SPREAD = 32;

  static Arguments of(ValueSet... positional) {
    return new Arguments(List.of(positional), Map.of(), List.of(), List.of());
  }

  /** The argument of a parameter; null if it is not given. */
  @Nullable ValueSet get(int position, String name) {
    return position < positional.size() ? positional.get(position) : named.get(name);
  }

  @Nullable ValueSet get(int position) {
    return position < positional.size() ? positional.get(position) : null;
  }

  int count() {
    return positional.size() + named.size() + starred.size() + mapped.size();
  }

  /** These arguments followed by others. */
  Arguments and(Arguments more) {
    Map<String, ValueSet> names = new LinkedHashMap<>(named);
    names.putAll(more.named);
    return new Arguments(
        join(positional, more.positional),
        names,
        join(starred, more.starred),
        join(mapped, more.mapped));
  }

  /** With the first starred argument replaced by the elements of this value; null if unknown. */
  @Nullable Arguments spread(AbstractValue value) {
    if (!(value instanceof Container container) || container.changed || container.open) return null;
    if (container.items.isEmpty() || container.items.size() > MAX_SPREAD) return null;
    List<ValueSet> rest = starred.subList(1, starred.size());
    return new Arguments(join(positional, container.items), named, rest, mapped);
  }

  /** Without the first positional arguments. */
  Arguments from(int position) {
    int first = Math.min(position, positional.size());
    return new Arguments(positional.subList(first, positional.size()), named, starred, mapped);
  }

  private static List<ValueSet> join(List<ValueSet> first, List<ValueSet> second) {
    List<ValueSet> both = new ArrayList<>(first);
    both.addAll(second);
    return both;
  }
}
