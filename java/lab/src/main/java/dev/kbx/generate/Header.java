package dev.kbx.generate;

import dev.kbx.error.InputException;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a run of methods is: the first line of its ledger. A run is resumed with the same.
 *
 * @param run its id
 * @param suite its label
 * @param tasks the selection as given
 * @param methods in the order given
 * @param device of development judgements
 * @param versions of the software that judges, by name
 * @param judging what the referee is asked for, by name: grade, stages, seed, …
 */
public record Header(
    String run,
    Instant started,
    String suite,
    String tasks,
    List<MethodSettings> methods,
    Verdict.@Nullable Device device,
    Map<String, String> versions,
    Map<String, String> judging) {
  /** Whether it is of the same methods over the same tasks. */
  public boolean isSameRunAs(Header other) {
    return suite.equals(other.suite) && tasks.equals(other.tasks) && methods.equals(other.methods);
  }

  /**
   * Throws {@link InputException} if feedback would differ from that of the run's beginning; the
   * message has each difference.
   */
  public void refuseOther(Header now) {
    List<String> differences = new ArrayList<>();
    if (!Objects.equals(device, now.device)) {
      differences.add(changed("device", described(device), described(now.device)));
    }
    differences.addAll(differences(judging, now.judging));
    differences.addAll(differences(versions, now.versions));
    if (differences.isEmpty()) return;
    throw new InputException(
        "run %s was begun with other conditions, so that its feedback would not be comparable: %s; restore them, or start a new run without --resume"
            .formatted(run, String.join(", ", differences)));
  }

  private static List<String> differences(Map<String, String> then, Map<String, String> now) {
    Set<String> names = new TreeSet<>(then.keySet());
    names.addAll(now.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(then.get(name), now.get(name)))
        .map(name -> changed(name, then.get(name), now.get(name)))
        .toList();
  }

  private static String changed(String what, @Nullable String then, @Nullable String now) {
    return "%s was %s, is %s".formatted(what, shown(then), shown(now));
  }

  private static String shown(@Nullable String value) {
    return value == null || value.isEmpty() ? "none" : value;
  }

  /** Two devices of one name differ in their number, driver or architecture. */
  private static @Nullable String described(Verdict.@Nullable Device device) {
    if (device == null) return null;
    return Stream.of(device.name(), device.uuid(), device.driver(), device.arch())
        .filter(Objects::nonNull)
        .collect(Collectors.joining(" "));
  }
}
