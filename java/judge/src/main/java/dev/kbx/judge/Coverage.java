package dev.kbx.judge;

import dev.kbx.outcome.Outcome;
import dev.kbx.plan.ServingProperty;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Unknown;
import dev.kbx.worker.OracleMessage.PlannedCall;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a candidate does in the calls beyond the published grade: which properties it holds for, and
 * which it breaks on.
 *
 * <p>A call may ask for several properties at once. A failure is put down to those of them that no
 * right call has shown to hold; where each holds by itself, to all of them together.
 */
final class Coverage {
  /** Before a property that the published statement promises, as the worker names it. */
  private static final String PROMISED = "promised:";

  /** Properties of one failed call, and how it failed. */
  private record Failure(PlannedCall call, Outcome outcome) {}

  private final Deque<PlannedCall> left = new ArrayDeque<>();
  private final List<PlannedCall> right = new ArrayList<>();
  private final List<Failure> failures = new ArrayList<>();

  /**
   * Calls with the same inputs, by the index of the first: draws of a random operation, repeats.
   */
  private final Map<Integer, Integer> unmade = new HashMap<>();

  /** Why nothing may be known of a property, by its name. */
  private final Map<String, String> reasons = new TreeMap<>();

  private final Set<Integer> begun = new HashSet<>();
  private @Nullable Outcome first;
  private boolean unknown;
  private boolean faulted;

  /**
   * @param calls beyond the published grade, in the order in which they are made
   */
  Coverage(List<PlannedCall> calls) {
    left.addAll(calls);
    for (PlannedCall call : calls) unmade.merge(call.inputs(), 1, Integer::sum);
  }

  /**
   * The next call to make; empty when all were. A call that asks for all that a failed one asked
   * for is left out: it would fail for the same reason.
   */
  Optional<PlannedCall> next() {
    while (!left.isEmpty()) {
      PlannedCall call = left.removeFirst();
      boolean fails = failures.stream().anyMatch(f -> asksForAllOf(call, f.call()));
      if (!fails) return Optional.of(call);
    }
    return Optional.empty();
  }

  private static boolean asksForAllOf(PlannedCall call, PlannedCall failed) {
    return new HashSet<>(call.properties()).containsAll(failed.properties());
  }

  /**
   * Notes what came of a call; no outcome means that its result was right. Of several calls with
   * the same inputs only the last one shows that a property holds: draws are judged together.
   */
  void add(PlannedCall call, Optional<Outcome> outcome) {
    begun.add(call.inputs());
    int rest = unmade.merge(call.inputs(), -1, Integer::sum);
    outcome.ifPresentOrElse(
        how -> failed(call, how),
        () -> {
          if (rest == 0) right.add(call);
        });
  }

  /** Notes what came of calls that were made in a process of their own, for a property. */
  void show(ServingProperty property, PlannedCall like, Optional<Outcome> outcome) {
    PlannedCall call = like.asking(property.label());
    outcome.ifPresentOrElse(how -> failed(call, how), () -> right.add(call));
  }

  /** Says why nothing is known of a property, unless a call shows something of it after all. */
  void unknown(ServingProperty property, String why) {
    reasons.putIfAbsent(property.label(), why);
  }

  /** A call says nothing of this candidate, so it is not made. */
  void skip(PlannedCall call) {
    unmade.merge(call.inputs(), -1, Integer::sum);
  }

  /** A call spent the candidate's process: another one makes those that are left. */
  void fault() {
    faulted = true;
    // The first of calls with the same inputs were made in the other process.
    unknown |= left.stream().anyMatch(call -> isBegun(call) && !call.special());
    left.removeIf(this::isBegun);
  }

  private boolean isBegun(PlannedCall call) {
    return begun.contains(call.inputs());
  }

  private void failed(PlannedCall call, Outcome how) {
    if (how.status().blame() == Status.Blame.CANDIDATE) {
      failures.add(new Failure(call, how));
    } else {
      unknown |= !call.special();
      call.properties().forEach(property -> reasons.putIfAbsent(property, how.why()));
    }
    if (first == null && !call.special()) first = how;
  }

  /** Whether calls are left to make. */
  boolean unfinished() {
    return !left.isEmpty();
  }

  /** Whether a call that decides at the general grade is left to make. */
  boolean undecided() {
    return left.stream().anyMatch(call -> !call.special());
  }

  /**
   * Whether all calls that decide at the general grade are right; empty if that is not known, as
   * one was not made or says nothing of the candidate.
   */
  Optional<Boolean> right() {
    if (failures.stream().anyMatch(failure -> !failure.call().special())) return Optional.of(false);
    return undecided() || unknown ? Optional.empty() : Optional.of(true);
  }

  /** Whether a device may not be what it was after one of the calls. */
  boolean faulted() {
    return faulted;
  }

  /** How the first call failed that decides at the general grade; empty where none did. */
  Optional<Outcome> firstFailure() {
    return Optional.ofNullable(first);
  }

  /** Properties of right calls. */
  private Set<String> shownRight() {
    return right.stream()
        .flatMap(call -> call.properties().stream())
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** Properties of right calls that no failure is put down to, sorted. */
  List<String> holds() {
    Set<String> held = new TreeSet<>(shownRight());
    breaks().forEach(broken -> held.remove(broken.property()));
    return List.copyOf(held);
  }

  /**
   * What it breaks on, each property once: what the statement promises first, then by the first
   * failure.
   */
  List<Break> breaks() {
    Set<String> held = shownRight();
    List<Break> breaks = new ArrayList<>();
    Set<String> named = new HashSet<>();
    failures.stream()
        .sorted(
            Comparator.<Failure>comparingInt(f -> promised(f.call()) ? 0 : 1)
                .thenComparingInt(f -> f.call().properties().size()))
        .forEach(failure -> {
          List<String> asked = failure.call().properties();
          if (asked.stream().anyMatch(named::contains)) return;
          List<String> suspects = asked.stream().filter(p -> !held.contains(p)).toList();
          List<String> blamed = suspects.isEmpty() ? asked : suspects;
          String property = String.join("+", blamed);
          if (!named.add(property)) return;
          named.addAll(suspects);
          Outcome how = failure.outcome();
          breaks.add(new Break(property, Calls.name(failure.call()), how.status(), how.message()));
        });
    return breaks;
  }

  /** Properties that no call says anything about, sorted, where there is a reason for that. */
  List<Unknown> unknown() {
    Set<String> seen = shownRight();
    failures.forEach(failure -> seen.addAll(failure.call().properties()));
    return reasons.entrySet().stream()
        .filter(reason -> !seen.contains(reason.getKey()))
        .map(reason -> new Unknown(reason.getKey(), reason.getValue()))
        .toList();
  }

  private static boolean promised(PlannedCall call) {
    return call.properties().stream().anyMatch(property -> property.startsWith(PROMISED));
  }
}
