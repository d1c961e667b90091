package dev.kbx.analysis;

import dev.kbx.analysis.Portability.Card;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The verdicts of several runs as a matrix of kernels and devices. */
record Measured(List<Site> sites, List<Row> rows) {

  /**
   * A device on which candidates were timed: one GPU, or the GPUs of one model that a run used.
   *
   * @param cards by UUID
   * @param runs ids of the runs on it
   */
  record Site(String name, SortedMap<String, Card> cards, Set<String> runs) {
    boolean has(Verdict.Device device) {
      return name.equals(device.name()) && cards.containsKey(uuid(device));
    }

    @Override
    public String toString() {
      return (name + " " + String.join(" ", cards.keySet())).stripTrailing();
    }
  }

  /** Empty if the device has none. */
  private static String uuid(Verdict.Device device) {
    return Objects.requireNonNullElse(device.uuid(), "");
  }

  /** One kernel: its verdict on each site, null if there is none. */
  record Row(List<@Nullable VerdictRow> verdicts) {
    /** Whether all its verdicts are correct at the general grade; null if that is not known. */
    @Nullable Boolean general() {
      boolean known = true;
      for (VerdictRow verdict : verdicts) {
        Boolean general = verdict == null ? null : verdict.general();
        if (Objects.equals(general, false)) return general;
        known &= general != null;
      }
      return known ? Boolean.TRUE : null;
    }

    /** The first verdict. */
    VerdictRow any() {
      return verdicts.stream().filter(Objects::nonNull).findFirst().orElseThrow();
    }
  }

  /** Identity of a kernel, in the order of tables. */
  private record Key(String category, String task, String suite, String candidate)
      implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::category)
            .thenComparing(Key::task)
            .thenComparing(Key::suite)
            .thenComparing(Key::candidate);

    static Key of(VerdictRow v) {
      return new Key(v.category(), v.task(), v.suite(), v.candidate());
    }

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }
  }

  /** Sites in the order in which the runs were given. */
  static Measured of(List<JudgedRun> runs) {
    List<Site> sites = sites(runs);
    Map<Key, @Nullable VerdictRow[]> rows = new TreeMap<>();
    List<JudgedRun> oldestFirst =
        runs.stream().sorted(Comparator.comparing(r -> r.run().started())).toList();
    for (JudgedRun run : oldestFirst) {
      for (VerdictRow verdict : run.rows()) {
        @Nullable VerdictRow[] row =
            rows.computeIfAbsent(Key.of(verdict), _ -> new VerdictRow[sites.size()]);
        for (int i = 0; i < sites.size(); i++) {
          if (sites.get(i).has(verdict.device())) row[i] = later(row[i], verdict);
        }
      }
    }
    return new Measured(
        sites,
        rows.values().stream()
            .filter(row -> Arrays.stream(row).anyMatch(Objects::nonNull))
            .map(row -> new Row(Arrays.asList(row)))
            .toList());
  }

  /** A verdict that blames the task or kbx does not replace one on the candidate. */
  private static VerdictRow later(@Nullable VerdictRow before, VerdictRow now) {
    return before != null && before.judged() && !now.judged() ? before : now;
  }

  /** Devices in the order in which the runs were given. */
  static List<Site> sites(List<JudgedRun> runs) {
    List<Site> sites = new ArrayList<>();
    for (JudgedRun run : runs) {
      Map<String, Site> own = new LinkedHashMap<>();
      for (VerdictRow verdict : run.rows()) {
        if (verdict.speedup() == null) continue;
        Verdict.Device on = verdict.device();
        own.computeIfAbsent(
                on.name(),
                name ->
                    new Site(name, new TreeMap<>(), new LinkedHashSet<>(Set.of(run.run().id()))))
            .cards()
            .put(uuid(on), new Card(on.uuid(), on.driver()));
      }
      own.values().forEach(site -> add(sites, site));
    }
    return List.copyOf(sites);
  }

  /** Adds a site; merges it with the first site that shares a GPU. */
  private static void add(List<Site> sites, Site site) {
    List<Site> same =
        sites.stream()
            .filter(other -> other.name().equals(site.name()))
            .filter(other -> !Collections.disjoint(other.cards().keySet(), site.cards().keySet()))
            .toList();
    if (same.isEmpty()) {
      sites.add(site);
      return;
    }
    Site whole = same.getFirst();
    same.stream().skip(1).forEach(other -> absorb(whole, other));
    absorb(whole, site);
    sites.removeAll(same.subList(1, same.size()));
  }

  private static void absorb(Site whole, Site part) {
    whole.cards().putAll(part.cards());
    whole.runs().addAll(part.runs());
  }
}
