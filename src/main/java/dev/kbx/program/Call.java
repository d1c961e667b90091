package dev.kbx.program;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A call, or a decorator that is applied to a definition.
 *
 * @param node the {@code call}; the {@code decorator} where that is applied without being a call
 * @param scope where it stands
 * @param targets paths of what may be called
 * @param arguments positional ones in order; starred ones as {@code list_splat}
 * @param keywords by name; {@code **options} is absent
 */
public record Call(
    Node node,
    Place place,
    Scope scope,
    Set<String> targets,
    List<Node> arguments,
    Map<String, Node> keywords) {
  public Call {
    // Not copyOf: its order differs from run to run, and messages quote what comes first.
    targets = Collections.unmodifiableSet(new LinkedHashSet<>(targets));
    arguments = List.copyOf(arguments);
    keywords = Collections.unmodifiableMap(new LinkedHashMap<>(keywords));
  }

  /**
   * What a parameter gets, by position or by name; positions after a star are the writer's guess.
   */
  public Optional<Node> argument(int position, String name) {
    if (position >= 0 && position < arguments.size()) return Optional.of(arguments.get(position));
    return keyword(name);
  }

  public Optional<Node> keyword(String name) {
    return Optional.ofNullable(keywords.get(name));
  }

  /** The first such path among what may be called. */
  public Optional<String> target(Predicate<String> wanted) {
    // Every rule asks every call: a stream for each costs more than the answer.
    for (String target : targets) if (wanted.test(target)) return Optional.of(target);
    return Optional.empty();
  }

  /** Whether one of these paths may be called. */
  public boolean of(String... paths) {
    for (String path : paths) if (targets.contains(path)) return true;
    return false;
  }
}
