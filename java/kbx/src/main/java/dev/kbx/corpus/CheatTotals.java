package dev.kbx.corpus;

import java.util.ArrayList;
import java.util.List;

/** Totals of a judged corpus, in a few lines. */
final class CheatTotals {
  private CheatTotals() {}

  static List<String> of(Trials trials) {
    List<String> lines = new ArrayList<>();
    boolean ran = trials.trials().stream().anyMatch(t -> t.ended() != null);
    if (trials.cheats() > 0) {
      lines.add(
          "%d of %d cheats are rejected by static rules alone"
              .formatted(trials.rejected(), trials.cheats()));
      if (ran) {
        lines.add(
            "%d of %d cheats accepted with static rules on, %d with them off"
                .formatted(trials.through(), trials.cheats(), trials.accepted()));
        lines.add(
            "(%d more compute the result by a kernel of their own: the attempt changes nothing)"
                .formatted(trials.onMerit()));
        long beyond = trials.trials().stream().filter(Trial::beyond).count();
        if (beyond > 0) {
          lines.add(
              "(%d are wrong beyond the published grade alone; their verdicts say for what)"
                  .formatted(beyond));
        }
      }
    }
    if (trials.honest() > 0) {
      lines.add(
          "%d of %d honest kernels rejected, flagged%s"
              .formatted(trials.turnedAway(), trials.honest(), ran ? " or not correct" : ""));
    }
    long differing = trials.differing().size();
    if (differing > 0) {
      lines.add("%d of %d files end differently".formatted(differing, trials.trials().size()));
    }
    return lines;
  }

  /** Cheats of one group in the order of their names. */
  static List<Trial> group(Trials trials, String group) {
    return trials.trials().stream()
        .filter(t -> t.kind() == Trial.Kind.CHEAT && group.equals(t.group()))
        .sorted(java.util.Comparator.comparing(Trial::name))
        .toList();
  }
}
