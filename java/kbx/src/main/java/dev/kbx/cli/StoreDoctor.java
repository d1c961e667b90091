package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import dev.kbx.document.Counted;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreFlaw;
import dev.kbx.store.StoreProblem;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code kbx doctor} finds in a store.
 *
 * @param place the store's name; null if there is none
 * @param mended what was wrong and is not any more
 * @param flaws what is wrong
 * @param problem why the store cannot be used; null if it can
 */
record StoreDoctor(
    @Nullable String place,
    int runs,
    long verdicts,
    List<StoreFlaw> mended,
    List<StoreFlaw> flaws,
    @Nullable String problem) {

  /** Examines the store of a folder, and makes anew what is wrong if that is wanted. */
  static StoreDoctor examine(ResultsFolder folder, boolean mend) throws Exception {
    try {
      Optional<RunStore> existing = folder.existing();
      if (existing.isEmpty()) return new StoreDoctor(null, 0, 0, List.of(), List.of(), null);
      try (RunStore store = existing.get()) {
        return mend ? mended(folder, store) : examined(folder, store, List.of(), store.flaws());
      }
    } catch (StoreProblem e) {
      return new StoreDoctor(folder.place(), 0, 0, List.of(), List.of(), e.getMessage());
    }
  }

  private static StoreDoctor mended(ResultsFolder folder, RunStore store) throws Exception {
    try (var _ = folder.lock()) {
      List<StoreFlaw> before = store.flaws();
      if (before.stream().anyMatch(StoreFlaw::mendable)) store.mend();
      List<StoreFlaw> after = store.flaws();
      return examined(
          folder, store, before.stream().filter(flaw -> !after.contains(flaw)).toList(), after);
    }
  }

  private static StoreDoctor examined(
      ResultsFolder folder, RunStore store, List<StoreFlaw> mended, List<StoreFlaw> flaws) {
    List<RunInfo> runs = store.runs();
    long verdicts = runs.stream().mapToLong(run -> store.count(run.id())).sum();
    return new StoreDoctor(folder.place(), runs.size(), verdicts, mended, flaws, null);
  }

  boolean exists() {
    return place != null;
  }

  boolean isWell() {
    return flaws.isEmpty() && problem == null;
  }

  /** The findings as lines for people; none if there is no store. */
  List<String> lines() {
    if (place == null) return List.of();
    if (problem != null) return List.of("store    PROBLEM: " + problem);
    List<String> lines = new ArrayList<>();
    lines.add(
        "store    %s: %s, %s%s"
            .formatted(
                place,
                Counted.of(runs, "run"),
                Counted.of(verdicts, "verdict"),
                flaws.isEmpty() ? ", nothing wrong" : ""));
    if (!mended.isEmpty()) lines.add("         mended: " + text(mended));
    List<StoreFlaw> mendable = flaws.stream().filter(StoreFlaw::mendable).toList();
    if (!mendable.isEmpty()) {
      lines.add("         PROBLEM: %s; kbx doctor --mend mends that".formatted(text(mendable)));
    }
    List<StoreFlaw> lasting = flaws.stream().filter(flaw -> !flaw.mendable()).toList();
    if (!lasting.isEmpty()) {
      lines.add("         PROBLEM: %s; restore a backup".formatted(text(lasting)));
    }
    return lines;
  }

  private static String text(List<StoreFlaw> flaws) {
    return flaws.stream()
        .map(flaw -> "%s: %,d".formatted(flaw.what(), flaw.rows()))
        .collect(Collectors.joining(", "));
  }

  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("place", String.valueOf(place));
    fields.put("runs", runs);
    fields.put("verdicts", verdicts);
    fields.put("mended", mended);
    fields.put("flaws", flaws);
    if (problem != null) fields.put("problem", problem);
    return fields;
  }
}
