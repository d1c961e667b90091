package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Traces in a run of methods of what an attempt should not have seen, and what its sandbox refused.
 * A trace is no proof: equal sources also come of a model that answers alike.
 *
 * @param attempts that were read
 * @param sources of all of them
 * @param alike answers that nearly equal a source of another attempt at the task
 * @param copied answers that have the task's reference, transcripts that have what its file says
 *     and its statement does not
 * @param named what transcripts name of kbx's folders and other runs
 * @param refused what agents tried in vain
 */
public record Contamination(
    int attempts,
    int sources,
    List<Alike> alike,
    List<Copied> copied,
    List<Named> named,
    List<Refused> refused) {
  /**
   * Jaccard's index from which two sources are alike. Of the pairs of honest kernels that kbx has
   * of one task, none has more than 0.44; changing one line of such a kernel leaves 0.92 or more.
   */
  public static final double ALIKE = 0.8;

  /**
   * Shingles of hidden text from which a transcript has it: 23 tokens in a row, or several runs.
   */
  public static final int COPIED = 16;

  public Contamination {
    alike = List.copyOf(alike);
    copied = List.copyOf(copied);
    named = List.copyOf(named);
    refused = List.copyOf(refused);
  }

  /** One method at one task for one sample. */
  public record Attempt(String method, String task, int sample) {}

  /**
   * What an attempt left.
   *
   * @param sources by the asks that they come from, in order
   * @param answer the ask whose source counts; null if there is none
   * @param hidden shingles of the transcript that only the task's file has
   * @param named lines of the transcript with each name that it should not know, first line and
   *     count
   * @param refused what it tried in vain, and how often
   */
  public record Trail(
      Attempt attempt,
      Map<String, String> sources,
      @Nullable String answer,
      int hidden,
      Map<String, Mention> named,
      Map<String, Integer> refused) {}

  /** How often a transcript has a name, and in which line first. */
  public record Mention(int times, String line) {}

  /** Two sources. */
  public record Alike(
      Attempt attempt, String ask, Attempt other, String otherAsk, double similarity) {}

  /**
   * Text of a task's file.
   *
   * @param where {@code answer} or {@code transcript}
   * @param of {@code reference} or {@code task file}
   * @param shingles that are in both
   * @param share of the reference's; null for a task's file
   */
  public record Copied(
      Attempt attempt, String where, String of, int shingles, @Nullable Double share) {}

  /** A name in a transcript. */
  public record Named(Attempt attempt, String name, int times, String line) {}

  /** What was refused. */
  public record Refused(Attempt attempt, String what, int times) {}

  /** Whether there is a trace of contamination; what was refused is none. */
  public boolean found() {
    return !alike.isEmpty() || !copied.isEmpty() || !named.isEmpty();
  }

  /**
   * Compares the attempts at each task.
   *
   * @param references sources of the tasks' references, by path; those that are not known are
   *     absent
   */
  public static Contamination of(List<Trail> trails, Map<String, String> references) {
    Map<String, List<Trail>> byTask = new TreeMap<>();
    for (Trail each : trails) {
      byTask.computeIfAbsent(each.attempt().task(), _ -> new ArrayList<>()).add(each);
    }
    List<Alike> alike = new ArrayList<>();
    List<Copied> copied = new ArrayList<>();
    List<Named> named = new ArrayList<>();
    List<Refused> refused = new ArrayList<>();
    byTask.forEach((task, own) -> {
      alike.addAll(alike(own));
      String reference = references.get(task);
      if (reference != null) copied.addAll(copied(own, Shingles.of(reference)));
    });
    for (Trail each : trails) {
      Attempt attempt = each.attempt();
      if (each.hidden() >= COPIED) {
        copied.add(new Copied(attempt, "transcript", "task file", each.hidden(), null));
      }
      each.named()
          .forEach((name, mention) ->
              named.add(new Named(attempt, name, mention.times(), mention.line())));
      each.refused().forEach((what, times) -> refused.add(new Refused(attempt, what, times)));
    }
    alike.sort(Comparator.comparingDouble(Alike::similarity).reversed());
    int sources = trails.stream().mapToInt(each -> each.sources().size()).sum();
    return new Contamination(trails.size(), sources, alike, copied, named, refused);
  }

  /** The closest source of each other attempt to an attempt's answer, each pair once. */
  private static List<Alike> alike(List<Trail> trails) {
    List<Map<String, Shingles>> shingles = new ArrayList<>();
    for (Trail each : trails) {
      Map<String, Shingles> own = new LinkedHashMap<>();
      each.sources().forEach((ask, code) -> own.put(ask, Shingles.of(code)));
      shingles.add(own);
    }
    List<Alike> found = new ArrayList<>();
    for (int i = 0; i < trails.size(); i++) {
      for (int j = i + 1; j < trails.size(); j++) {
        Alike one = closest(trails.get(i), shingles.get(i), trails.get(j), shingles.get(j));
        Alike other = closest(trails.get(j), shingles.get(j), trails.get(i), shingles.get(i));
        Alike best =
            one != null && (other == null || one.similarity >= other.similarity) ? one : other;
        if (best != null && best.similarity() >= ALIKE) found.add(best);
      }
    }
    return found;
  }

  private static @Nullable Alike closest(
      Trail trail, Map<String, Shingles> own, Trail other, Map<String, Shingles> others) {
    String ask = trail.answer();
    Shingles answer = ask == null ? null : own.get(ask);
    if (ask == null || answer == null) return null;
    Alike best = null;
    for (Map.Entry<String, Shingles> each : others.entrySet()) {
      double similarity = answer.similarity(each.getValue());
      if (best == null || similarity > best.similarity()) {
        best = new Alike(trail.attempt(), ask, other.attempt(), each.getKey(), similarity);
      }
    }
    return best;
  }

  private static List<Copied> copied(List<Trail> trails, Shingles reference) {
    List<Copied> found = new ArrayList<>();
    if (reference.size() < COPIED) return found;
    for (Trail each : trails) {
      String code = each.answer() == null ? null : each.sources().get(each.answer());
      if (code == null) continue;
      int shared = reference.shared(Shingles.of(code));
      double share = (double) shared / reference.size();
      if (share >= ALIKE) {
        found.add(new Copied(each.attempt(), "answer", "reference", shared, share));
      }
    }
    return found;
  }
}
