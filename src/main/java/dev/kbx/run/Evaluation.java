package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.store.Store;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A run over candidates: judges those that have no verdict yet, each distinct one once, and stores
 * every verdict as it falls.
 *
 * <p>The store is what makes a run resumable: a verdict is there or it is not. Killed at any
 * moment, a run continues with the positions that have none.
 */
public final class Evaluation {
  private final Store store;
  private final Plan plan;
  private final List<Workers.Slot> slots;
  private final RunInfo run;
  private final Listener listener;

  /** Hears of every verdict, from several threads, one at a time. */
  public interface Listener {
    /**
     * A verdict fell and is stored.
     *
     * @param remembered whether it was given without judging again
     */
    void verdict(int position, Verdict verdict, boolean remembered);
  }

  public Evaluation(
      Store store, Plan plan, List<Workers.Slot> slots, RunInfo run, Listener listener) {
    this.store = store;
    this.plan = plan;
    this.slots = List.copyOf(slots);
    this.run = run;
    this.listener = listener;
  }

  /** Candidates that are the same source for the same task, by their positions in the run. */
  private record Group(String judgedAs, List<Map.Entry<Integer, Candidate>> members) {}

  /**
   * Judges what is left of {@code candidates}; a candidate's position in the list is its identity
   * in the run.
   *
   * @return every verdict of the run by position
   * @throws InterruptedException when cut off; what was judged is stored
   */
  public SortedMap<Integer, Verdict> judge(List<Candidate> candidates) throws InterruptedException {
    SortedMap<Integer, Verdict> verdicts = new TreeMap<>(store.verdicts(run.id()));
    List<Group> groups = groups(candidates, verdicts);
    Schedule.run(slots, groups, (slot, group) -> judge(slot, group, verdicts));
    return verdicts;
  }

  private List<Group> groups(List<Candidate> candidates, SortedMap<Integer, Verdict> done) {
    Map<String, Group> groups = new LinkedHashMap<>();
    for (int position = 0; position < candidates.size(); position++) {
      if (done.containsKey(position)) continue;
      Candidate candidate = candidates.get(position);
      groups
          .computeIfAbsent(key(candidate), key -> new Group(key, new ArrayList<>()))
          .members()
          .add(Map.entry(position, candidate));
    }
    return new ArrayList<>(groups.values());
  }

  private void judge(Workers.Slot slot, Group group, SortedMap<Integer, Verdict> verdicts)
      throws InterruptedException {
    Verdict known = store.remembered(group.judgedAs()).orElse(null);
    boolean remembered = known != null;
    for (Map.Entry<Integer, Candidate> member : group.members()) {
      Candidate candidate = member.getValue();
      Verdict verdict =
          known == null
              ? new Judge(slot, plan, run.device(), run.versions()).judge(run.id(), candidate)
              : given(known, candidate);
      add(
          member.getKey(),
          verdict,
          candidate,
          group.judgedAs(),
          verdicts,
          known != null && remembered);
      if (lasting(verdict)) known = verdict;
    }
  }

  private void add(
      int position,
      Verdict verdict,
      Candidate candidate,
      String judgedAs,
      SortedMap<Integer, Verdict> verdicts,
      boolean remembered) {
    synchronized (verdicts) {
      store.add(position, verdict, candidate.code(), lasting(verdict) ? judgedAs : null);
      verdicts.put(position, verdict);
      listener.verdict(position, verdict, remembered);
    }
  }

  /**
   * Whether the same candidate would get the same verdict again: not where a deadline or this
   * machine decided.
   */
  private static boolean lasting(Verdict verdict) {
    return switch (verdict.status()) {
      case TIMEOUT, OUT_OF_MEMORY, INFRASTRUCTURE, INVALID_TASK -> false;
      default -> true;
    };
  }

  /** A verdict given before, for another appearance of the same candidate. */
  private Verdict given(Verdict v, Candidate c) {
    return new Verdict(
        run.id(),
        v.candidate(),
        c.origin(),
        v.suite(),
        v.task(),
        v.category(),
        c.sample(),
        c.method(),
        c.model(),
        c.round(),
        v.status(),
        v.stage(),
        v.callOk(),
        v.exeOk(),
        v.perfOk(),
        v.message(),
        v.rule(),
        v.evidence(),
        v.flags(),
        v.speedup(),
        v.sizes(),
        v.baselines(),
        v.compile(),
        v.kernels(),
        v.mismatches(),
        v.errorMetrics(),
        v.quality(),
        v.origin(),
        v.frames(),
        v.output(),
        v.device(),
        v.versions(),
        v.seconds());
  }

  /**
   * Everything a verdict depends on: source, task file, stages, rules, secret, limits, baseline,
   * device, versions.
   */
  private String key(Candidate candidate) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      List<@Nullable Object> parts =
          List.of(
              candidate.hash(),
              candidate.task().suite(),
              candidate.task().path(),
              plan.stages().stream().map(Stage::label).toList(),
              plan.rules(),
              plan.arch(),
              plan.secret(),
              plan.limits(),
              plan.baseline(),
              run.device(),
              new TreeMap<>(run.versions()));
      digest.update(parts.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8));
      digest.update(taskFile(candidate));
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static byte[] taskFile(Candidate candidate) {
    try {
      return Files.readAllBytes(candidate.task().file());
    } catch (IOException e) {
      return new byte[0]; // The oracle says what is wrong with it.
    }
  }

  /** Verdicts that say nothing of their candidates: kbx or a task failed. */
  public static long failures(SortedMap<Integer, Verdict> verdicts) {
    return verdicts.values().stream()
        .filter(v -> v.status() == Status.INFRASTRUCTURE || v.status() == Status.INVALID_TASK)
        .count();
  }
}
