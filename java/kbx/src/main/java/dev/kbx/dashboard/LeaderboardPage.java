package dev.kbx.dashboard;

import dev.kbx.analysis.Leaderboard;
import dev.kbx.analysis.Leaderboard.Entry;
import dev.kbx.analysis.Leaderboard.Separation;
import dev.kbx.analysis.Maker;
import dev.kbx.analysis.TaskShare;
import dev.kbx.dashboard.Boards.Ranked;
import dev.kbx.report.Components;
import dev.kbx.store.VerdictQueries.Board;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Methods and models of one suite, device and grade by what they solve. */
record LeaderboardPage(Boards boards) {
  Markup body(String suite, String grade, String device) {
    List<Board> all = boards.all();
    if (all.isEmpty()) return Parts.none("No verdicts yet.");
    Optional<Board> found = boards.find(suite, grade, device);
    Board chosen = found.orElseGet(all::getFirst);
    Markup note =
        found.isEmpty()
            ? Parts.note("No verdicts of that suite, grade and device; this is the largest board.")
            : Markup.NONE;
    return choice(all, chosen).and(note).and(board(boards.ranked(chosen)));
  }

  private static Markup choice(List<Board> boards, Board chosen) {
    return Markup.of(
        """
        <form class="tools" method="get" action="/leaderboard">
        %s%s%s<button>Show</button>
        </form>
        """,
        select("suite", "Suite", boards, Board::suite, chosen.suite()),
        select("grade", "Grade", boards, Boards::grade, Boards.grade(chosen)),
        select("device", "Device", boards, Board::device, chosen.device()));
  }

  private static Markup select(
      String name, String title, List<Board> boards, Function<Board, String> value, String chosen) {
    List<String> values = boards.stream().map(value).distinct().toList();
    return Markup.of(
        "<label>%s <select name=\"%s\">%s</select></label>",
        title,
        name,
        Markup.each(
            values,
            each ->
                Markup.of(
                    "<option%s>%s</option>",
                    each.equals(chosen) ? new Markup(" selected") : "", each)));
  }

  private static Markup board(Ranked ranked) {
    Leaderboard board = ranked.ranks();
    boolean timed = board.entries().stream().anyMatch(each -> each.faster() != null);
    return Markup.of(
        """
        <table class="methods board">
        <thead><tr><th scope="col" class="rank">Rank</th><th scope="col">Method</th><th scope="col">Tasks tried</th>\
        %s%s</tr></thead>
        <tbody>
        %s
        </tbody>
        </table>
        <p class="legend">%s</p>
        """,
        heads(ranked.board()),
        timed
            ? new Markup("<th scope=\"col\">fast₁</th><th scope=\"col\">fast₂</th>")
            : Markup.NONE,
        Markup.each(board.entries(), each -> row(each, board.tasks(), ranked.board(), timed)),
        legend(board, timed, ranked.baselines()));
  }

  /** Of verdicts that state no grade, nothing is known of the general one. */
  private static Markup heads(Board board) {
    return board.grade() == null
        ? new Markup("<th scope=\"col\">Correct</th>")
        : Markup.of(
            "<th scope=\"col\">Correct, %s</th><th scope=\"col\">Correct, general</th>",
            board.grade());
  }

  private static Markup row(Entry entry, int tasks, Board board, boolean timed) {
    Maker maker = entry.maker();
    return Markup.of(
        """
        <tr><td class="rank" data-name="rank"><b>%s</b>%s</td><th scope="row">%s</th>\
        <td data-name="tasks tried">%,d of %,d</td>%s%s%s</tr>
        """,
        entry.rank(),
        why(entry),
        Parts.maker(maker.method(), maker.model()),
        entry.attempted(),
        tasks,
        share("correct", entry.correct()),
        board.grade() == null ? Markup.NONE : share("general", entry.general()),
        timed ? share("fast₁", entry.faster()).and(share("fast₂", entry.twice())) : Markup.NONE);
  }

  private static Markup share(String name, @Nullable TaskShare share) {
    return Markup.written(writer -> Components.shareCell(writer, name, share));
  }

  /** That it is tied, or how it was told apart. */
  private static Markup why(Entry entry) {
    Separation by = entry.separatedBy();
    String told =
        by == null
            ? ""
            : by.p() == null
                ? "intervals apart"
                : by.p() < 0.001 ? "p < 0.001" : String.format(Locale.ROOT, "p = %.3f", by.p());
    return Markup.of(
        "%s%s",
        entry.tied() ? new Markup("<span class=\"tied\">tied</span>") : "",
        told.isEmpty() ? "" : Markup.of("<small>%s</small>", told));
  }

  private static String legend(Leaderboard board, boolean timed, List<String> baselines) {
    String text =
        "Shares of the suite’s %,d tasks, with 95 %% intervals; a task without a candidate counts as not solved, and of the same sample in several runs the last verdict counts."
                .formatted(board.tasks())
            + " A rank is shared by all that cannot be told apart from its first: by McNemar’s"
            + " exact test on the same tasks, adjusted for all pairs, p is 0.05 or more; where a"
            + " method has several samples of a task, their intervals overlap. p is against the"
            + " first of the rank before.";
    if (timed) {
      return text
          + " fast₁ and fast₂: correct and more than 1 and 2 times as fast as %s."
              .formatted(baselines.getFirst());
    }
    return baselines.size() < 2
        ? text
        : text
            + " No fast₁: speedups are against different baselines, "
            + String.join(", ", baselines)
            + ".";
  }
}
