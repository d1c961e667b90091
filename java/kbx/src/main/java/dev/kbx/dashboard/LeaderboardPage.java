package dev.kbx.dashboard;

import dev.kbx.analysis.Leaderboard;
import dev.kbx.analysis.Leaderboard.Entry;
import dev.kbx.analysis.Leaderboard.Separation;
import dev.kbx.analysis.TaskShare;
import dev.kbx.dashboard.Boards.Ranked;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.section.Captions;
import dev.kbx.store.VerdictQueries.Board;
import java.util.ArrayList;
import java.util.List;
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
    List<Column.Of<Entry>> columns = new ArrayList<>();
    columns.add(Column.text("rank", each -> each.rank() + (each.tied() ? " tied" : "")));
    columns.add(
        Column.text("method", each -> Parts.maker(each.maker().method(), each.maker().model())));
    // Of verdicts that state no grade, nothing is known of the general one.
    String grade = ranked.board().grade();
    columns.add(
        Column.number(
            grade == null ? "correct" : "correct, " + grade, each -> share(each.correct())));
    if (grade != null) columns.add(Column.number("general", each -> share(each.general())));
    if (timed) {
      columns.add(Column.number("fast_1", each -> share(each.faster())));
      columns.add(Column.number("fast_2", each -> share(each.twice())));
    }
    columns.add(Column.number("tasks tried", each -> Cell.part(each.attempted(), board.tasks())));
    columns.add(Column.text("why this rank", LeaderboardPage::told));
    return Parts.table("board", legend(timed, ranked.baselines()), columns, board.entries());
  }

  private static Cell share(@Nullable TaskShare share) {
    return share == null
        ? Cell.missing()
        : Cell.rate(share.passes(), share.total(), share.value(), share.low(), share.high());
  }

  /** How it compares with one ahead of it, or else of its own rank. */
  private static @Nullable String told(Entry entry) {
    Separation behind = entry.separatedBy();
    Separation tied = entry.tiedWith();
    String reason = behind == null ? "" : "behind " + against(behind);
    if (tied != null) {
      reason += (reason.isEmpty() ? "" : "; ") + "not told apart from " + against(tied);
    }
    return reason.isEmpty() ? null : reason;
  }

  private static String against(Separation each) {
    return Parts.maker(each.from().method(), each.from().model())
        + " (%s)".formatted(Captions.on(each.p(), each.tasks()));
  }

  private static String legend(boolean timed, List<String> baselines) {
    String text =
        "Shares of the tasks that each tried, with 95 % intervals; of the same sample in several"
            + " runs the last verdict counts. Ranks: "
            + Captions.ranks();
    if (timed) {
      return text
          + " fast_1 and fast_2: correct and more than 1 and 2 times as fast as %s."
              .formatted(baselines.getFirst());
    }
    return baselines.size() < 2
        ? text
        : text
            + " No fast_1: speedups are against different baselines, "
            + String.join(", ", baselines)
            + ".";
  }
}
