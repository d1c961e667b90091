package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Verdict;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a round of a refinement changed.
 *
 * @param round the one before
 * @param status of the candidate before
 * @param message what was found about it
 * @param diff unified, without the names; empty if both are equal; null if one of the kernels is
 *     not published
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record RoundChange(int round, String status, @Nullable String message, @Nullable String diff) {
  private record Attempt(
      String path, @Nullable String method, @Nullable String model, int sample) {}

  /** Finds the candidate of the round before. */
  static final class Finder {
    private final Map<Attempt, TreeMap<Integer, RunVerdicts.Entry>> attempts = new HashMap<>();
    private final RunVerdicts verdicts;
    private final Function<Verdict, String> sourceOf;

    Finder(RunVerdicts verdicts, Function<Verdict, String> sourceOf) {
      this.verdicts = verdicts;
      this.sourceOf = sourceOf;
      for (RunVerdicts.Entry entry : verdicts.entries()) {
        Integer round = entry.row().round();
        if (round == null) continue;
        attempts.computeIfAbsent(attempt(entry.row()), _ -> new TreeMap<>()).put(round, entry);
      }
    }

    private static Attempt attempt(VerdictRow row) {
      return new Attempt(row.path(), row.method(), row.model(), row.sample());
    }

    /** Null if there is no round before. */
    @Nullable RoundChange of(RunVerdicts.Entry entry) {
      Integer round = entry.row().round();
      TreeMap<Integer, RunVerdicts.Entry> rounds = attempts.get(attempt(entry.row()));
      if (round == null || rounds == null) return null;
      Map.Entry<Integer, RunVerdicts.Entry> before = rounds.lowerEntry(round);
      if (before == null) return null;
      Verdict then = verdicts.whole(before.getValue());
      String diff = diff(then, verdicts.whole(entry));
      return new RoundChange(
          before.getKey(), then.judgement().status().label(), then.judgement().message(), diff);
    }

    private @Nullable String diff(Verdict then, Verdict now) {
      if (then.provenance().candidate().isEmpty() || now.provenance().candidate().isEmpty())
        return null;
      return new LineDiff(sourceOf.apply(then), sourceOf.apply(now)).hunks();
    }
  }
}
