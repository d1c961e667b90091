package dev.kbx.app;

import dev.kbx.store.RunStore;
import dev.kbx.store.StoreFlaw;
import dev.kbx.store.StoreProblem;
import dev.kbx.verdict.RunInfo;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong in a store.
 *
 * @param place the store's name; null if there is none
 * @param mended what was wrong and is not any more
 * @param flaws what is wrong
 * @param problem why the store cannot be used; null if it can
 */
public record StoreExamination(
    @Nullable String place,
    int runs,
    long verdicts,
    List<StoreFlaw> mended,
    List<StoreFlaw> flaws,
    @Nullable String problem) {

  /**
   * Examines the store of a folder.
   *
   * @param mend whether what is wrong and can be made anew is
   */
  public static StoreExamination examine(ResultsFolder folder, boolean mend) throws Exception {
    try {
      Optional<RunStore> existing = folder.existing();
      if (existing.isEmpty()) return new StoreExamination(null, 0, 0, List.of(), List.of(), null);
      try (RunStore store = existing.get()) {
        return mend ? mended(folder, store) : examined(folder, store, List.of(), store.flaws());
      }
    } catch (StoreProblem e) {
      return new StoreExamination(folder.place(), 0, 0, List.of(), List.of(), e.getMessage());
    }
  }

  private static StoreExamination mended(ResultsFolder folder, RunStore store) throws Exception {
    try (var _ = folder.lock()) {
      List<StoreFlaw> before = store.flaws();
      if (before.stream().anyMatch(StoreFlaw::mendable)) store.mend();
      List<StoreFlaw> after = store.flaws();
      return examined(
          folder, store, before.stream().filter(flaw -> !after.contains(flaw)).toList(), after);
    }
  }

  private static StoreExamination examined(
      ResultsFolder folder, RunStore store, List<StoreFlaw> mended, List<StoreFlaw> flaws) {
    List<RunInfo> runs = store.runs();
    long verdicts = runs.stream().mapToLong(run -> store.count(run.id())).sum();
    return new StoreExamination(folder.place(), runs.size(), verdicts, mended, flaws, null);
  }

  public boolean exists() {
    return place != null;
  }

  public boolean isWell() {
    return flaws.isEmpty() && problem == null;
  }
}
