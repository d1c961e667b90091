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
 * A call, or the application of a decorator.
 *
 * @param node the {@code call} or the {@code decorator}
 * @param scope that the call is in
 * @param targets paths of what it may call
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
   * The argument of a parameter, by position or by name. Positions after a starred argument are
   * only probable.
   */
  public Optional<Node> argument(int position, String name) {
    if (position >= 0 && position < arguments.size()) return Optional.of(arguments.get(position));
    return keyword(name);
  }

  public Optional<Node> keyword(String name) {
    return Optional.ofNullable(keywords.get(name));
  }

  /** The first target that matches. */
  public Optional<String> target(Predicate<String> wanted) {
    // Called for every rule and call: streams are measurably slower.
    for (String target : targets) if (wanted.test(target)) return Optional.of(target);
    return Optional.empty();
  }

  /** Whether it may call one of these paths. */
  public boolean of(String... paths) {
    for (String path : paths) if (targets.contains(path)) return true;
    return false;
  }
}
