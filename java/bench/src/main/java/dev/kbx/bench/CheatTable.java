package dev.kbx.bench;

import dev.kbx.document.Block;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** The judged corpus: a row for each cheat, what ends differently, and totals. */
final class CheatTable {
  private CheatTable() {}

  /** The cheats and what became of them. */
  static Section of(Trials trials) {
    List<Trial> cheats =
        trials.trials().stream().filter(t -> t.kind() == Trial.Kind.CHEAT).toList();
    List<Block> blocks = new ArrayList<>();
    if (!cheats.isEmpty()) {
      blocks.add(
          Block.Table.of(
              "cheats",
              "",
              List.of(
                  Column.text(
                      "cheat",
                      each -> Objects.requireNonNullElse(each.group(), "") + "/" + each.name()),
                  Column.text(
                      "static off",
                      each -> each.ended() == null ? "not run" : each.ended().label()),
                  Column.<Trial>text("static rules", each -> String.join(", ", each.rejectedBy()))),
              cheats));
    }
    return new Section("cheats", "Cheats", blocks);
  }

  /** What ends differently, a line each, never broken so that places can be copied; then totals. */
  static List<String> lines(Trials trials) {
    List<String> lines = new ArrayList<>(List.of(""));
    for (Trial trial : trials.differing()) {
      for (String problem : trial.problems()) {
        lines.add(Text.clean("%s: %s".formatted(trial.source(), problem)));
      }
      if (trial.problems().isEmpty()) {
        lines.add(
            "%s: %s as fast, which no honest kernel of the task is"
                .formatted(trial.source(), Cell.ratio(trial.speedup(), null, null).text()));
      }
    }
    if (lines.size() > 1) lines.add("");
    lines.addAll(totals(trials));
    return lines;
  }

  /** Totals of a judged corpus, in a few lines. */
  static List<String> totals(Trials trials) {
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
        if (trials.knownGaps() > 0) {
          lines.add("(%d known gaps, accepted)".formatted(trials.knownGaps()));
        }
        lines.add(
            "(%d more compute the result by a kernel of their own: the attempt changes nothing)"
                .formatted(trials.onMerit()));
        if (trials.published() > 0) {
          lines.add(
              "(%d are mechanisms that others have published, and %d of these accepted with static rules off)"
                  .formatted(trials.published(), trials.publishedAndAccepted()));
        }
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
    long unproven = trials.trials().stream().filter(Trial::unproven).count();
    if (unproven > 0) {
      lines.add(
          "(of %d of these only their own process says who computed: `unproven_origin`)"
              .formatted(unproven));
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
        .sorted(Comparator.comparing(Trial::name))
        .toList();
  }
}
