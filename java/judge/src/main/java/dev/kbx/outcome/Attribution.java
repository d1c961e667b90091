package dev.kbx.outcome;

import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.RunnerMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Attributes a candidate's results, summed over its calls, to its own kernels or to PyTorch.
 *
 * <p>The runner's accounts come from the candidate's process and could be forged there. So they can
 * convict a candidate, but never acquit it.
 */
public final class Attribution {
  /**
   * Largest share of the work, in elements read and written, that operations other than the
   * candidate's kernels may do. Finishing a reduction over blocks of 64 elements or more costs at
   * most 3 %; computing one of several fused steps costs 50 % and more.
   */
  static final double MOST_FOREIGN = 0.10;

  /** Smallest share of the results that the candidate's kernels must have written. */
  static final double LEAST_OWN = 0.50;

  /** The flag of a candidate whose accounts are {@linkplain #incomplete() incomplete}. */
  public static final String NONE = "no_origin";

  private static final int MOST_OPERATIONS = 12;
  private static final int OPERATIONS_IN_EVIDENCE = 3;

  /** Operations kept, of the any number that a runner may name. */
  private static final int MOST_PLACES = 1000;

  private record Place(String name, int line) {}

  private final Map<Place, Long> operations = new LinkedHashMap<>();
  private double elements;
  private double own;
  private double volume;
  private double foreign;
  private long launches;
  private long copies;
  private boolean used;
  private boolean incomplete;
  private @Nullable String elsewhere;
  private boolean contributes;

  public Attribution() {
    this(false);
  }

  /**
   * @param contributes whether {@link #contributes()} is known already
   */
  public Attribution(boolean contributes) {
    this.contributes = contributes;
  }

  /** Adds the account of one call; null if the runner had none. */
  public void add(RunnerMessage.@Nullable Origin account) {
    if (account == null) {
      incomplete = true;
      return;
    }
    elements += account.elements();
    own += account.own();
    volume += account.volume();
    foreign += account.foreign();
    launches += account.launches();
    copies += account.copies();
    used |= account.used();
    for (RunnerMessage.Operation o : account.operations()) {
      if (operations.size() < MOST_PLACES) {
        operations.merge(new Place(o.name(), o.line()), o.elements(), Long::sum);
      }
    }
  }

  /** Notes what shows that a result was computed otherwise than the accounts say. */
  public void computedElsewhere(String how) {
    elsewhere = how;
  }

  /**
   * Adds the account of a right call with other weights or values, of the same shapes. Kernels that
   * change nothing in the calls that decide, as the weights are ones and zeros, are not for show if
   * they do there.
   */
  public void addOther(RunnerMessage.@Nullable Origin account) {
    contributes |= account != null && account.own() > 0 && account.copies() < account.launches();
  }

  /** Whether kernels did more than copy in a call of {@link #addOther}. */
  public boolean contributes() {
    return contributes;
  }

  /** Whether a call has no account, which happens only if the candidate prevents it. */
  public boolean incomplete() {
    return incomplete;
  }

  /** The verdict's field; null if nothing is known. */
  public Verdict.@Nullable Origin summary() {
    if (volume == 0) return null;
    return new Verdict.Origin(
        rounded(ownShare() * (1 - foreignShare())),
        rounded(foreignShare()),
        largest(MOST_OPERATIONS).stream()
            .map(e ->
                new Verdict.Operation(
                    e.getKey().name(), line(e.getKey()), rounded(e.getValue() / volume)))
            .toList());
  }

  /**
   * Why a candidate with right values has not earned its verdict; empty if it has.
   *
   * @param where prefix of the finding: {@code "at (1024, 1024), "}, or empty
   */
  public Optional<Outcome> judge(Policy policy, Task task, Stage stage, String where) {
    if (policy == Policy.ANY || elements == 0) return Optional.empty();
    String advice = policy.advice(task);
    Optional<String> pretence = pretence();
    if (pretence.isPresent()) {
      return pretence.map(what -> Outcome.pretended(stage, where + what + culprits("; "), advice));
    }
    Optional<String> broken = policy == Policy.MIXED ? withoutKernel() : broken();
    if (broken.isPresent())
      return broken.map(what -> Outcome.notAKernel(stage, where + what, advice));
    return Optional.ofNullable(elsewhere).map(how -> Outcome.pretended(stage, where + how, advice));
  }

  /** What is wrong where others may compute: that nobody else did. */
  private Optional<String> withoutKernel() {
    if (used || launches > 0) return Optional.empty();
    return Optional.of("no kernel of this file ran" + culprits("; "));
  }

  /** What makes kernels look as if they had computed the result. */
  private Optional<String> pretence() {
    if (launches == 0) return Optional.empty();
    if (!used && own == 0) {
      return Optional.of("kernels of this file ran, and no result depends on what they wrote");
    }
    return copies == launches && !contributes
        ? Optional.of("kernels of this file only copied what others had computed")
        : Optional.empty();
  }

  private Optional<String> broken() {
    if (own == 0) {
      return Optional.of("no result was written by a kernel of this file" + culprits("; "));
    }
    if (foreignShare() > MOST_FOREIGN) {
      return Optional.of(
          percent(foreignShare()) + " of the work was not done by its kernels" + culprits(": "));
    }
    if (ownShare() < LEAST_OWN) {
      return Optional.of(
          percent(1 - ownShare())
              + " of the results were not written by its kernels"
              + culprits("; "));
    }
    return Optional.empty();
  }

  private String culprits(String separator) {
    if (operations.isEmpty()) return "";
    return separator
        + largest(OPERATIONS_IN_EVIDENCE).stream()
            .map(e -> name(e.getKey()))
            .collect(Collectors.joining(", "));
  }

  private static String name(Place place) {
    return place.line() > 0 ? "%s (line %d)".formatted(place.name(), place.line()) : place.name();
  }

  private static @Nullable Integer line(Place place) {
    return place.line() > 0 ? place.line() : null;
  }

  private List<Map.Entry<Place, Long>> largest(int count) {
    List<Map.Entry<Place, Long>> all = new ArrayList<>(operations.entrySet());
    all.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
    return all.subList(0, Math.min(count, all.size()));
  }

  private double ownShare() {
    return elements == 0 ? 1 : own / elements;
  }

  private double foreignShare() {
    return volume == 0 ? 0 : foreign / volume;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  private static double rounded(double share) {
    return Math.round(share * 1000) / 1000.0;
  }
}
