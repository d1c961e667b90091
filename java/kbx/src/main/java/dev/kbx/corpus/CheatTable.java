package dev.kbx.corpus;

import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The judged corpus for a terminal: a line for each cheat, the files whose result differs from
 * their header, and totals.
 *
 * @param width columns of the terminal
 */
public record CheatTable(int width) {
  private static final int STATUS = 16;

  /** The text, ending in a line break. */
  public String render(Trials trials) {
    List<Trial> cheats =
        trials.trials().stream().filter(t -> t.kind() == Trial.Kind.CHEAT).toList();
    int names = longest(cheats.stream().map(CheatTable::mechanism).toList(), 10);
    List<String> lines = new ArrayList<>();
    if (!cheats.isEmpty()) lines.add(line("", "static off", "static rules", names));
    for (Trial cheat : cheats) {
      String ended = cheat.ended() == null ? "not run" : cheat.ended().label();
      lines.add(line(mechanism(cheat), ended, String.join(", ", cheat.rejectedBy()), names));
    }
    lines.add("");
    for (Trial trial : trials.differing()) {
      for (String problem : trial.problems()) {
        lines.add(Text.clean("%s: %s".formatted(trial.source(), problem)));
      }
      if (trial.problems().isEmpty()) {
        lines.add(
            "%s: %.2f times as fast, which no honest kernel of the task is"
                .formatted(trial.source(), trial.speedup()));
      }
    }
    if (!trials.differing().isEmpty()) lines.add("");
    lines.addAll(CheatTotals.of(trials));
    return String.join("\n", lines) + "\n";
  }

  private String line(String mechanism, String ended, String rules, int names) {
    String line =
        Text.left(mechanism, names) + "  " + Text.left(ended, STATUS) + "  " + Text.clean(rules);
    return Text.cut(line.stripTrailing(), width);
  }

  private static String mechanism(Trial cheat) {
    return Objects.requireNonNullElse(cheat.group(), "") + "/" + cheat.name();
  }

  private static int longest(List<String> texts, int least) {
    return texts.stream().mapToInt(String::length).max().orElse(least);
  }
}
