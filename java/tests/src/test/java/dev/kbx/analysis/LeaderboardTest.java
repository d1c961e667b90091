package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.analysis.Leaderboard.Entry;
import dev.kbx.analysis.Leaderboard.Tried;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaderboardTest {
  private static List<Tried> solves(String method, int from, int to, int attempted) {
    List<Tried> tried = new ArrayList<>();
    for (int i = 0; i < attempted; i++) {
      int passes = i >= from && i < to ? 1 : 0;
      tried.add(
          new Tried(new MethodAndModel(method, null), "Math/t" + i, 1, passes, 0, passes, 0, 0));
    }
    return tried;
  }

  @SafeVarargs
  private static Leaderboard board(List<Tried>... makers) {
    List<Tried> all = new ArrayList<>();
    for (List<Tried> each : makers) all.addAll(each);
    return Leaderboard.of(all, 40, true);
  }

  private static List<String> ranks(Leaderboard board) {
    return board.entries().stream()
        .map(e -> e.rank() + (e.tied() ? "=" : "") + " " + e.maker().method())
        .toList();
  }

  @Test
  void methodsWithoutSignificantDifferenceShareARank() {
    // 30 and 27 of 40, of which 27 are common: p = 0.25; 12 common of 27: p = 2 / 2^15, of 30 less.
    Leaderboard board =
        board(solves("weak", 0, 12, 40), solves("best", 0, 30, 40), solves("good", 0, 27, 40));
    assertThat(ranks(board)).containsExactly("1= best", "1= good", "3 weak");
    Entry weak = board.entries().getLast();
    assertThat(requireNonNull(weak.separatedBy()).from().method()).isEqualTo("good");
    assertThat(requireNonNull(weak.separatedBy()).p())
        .isCloseTo(2 * 2 * Math.pow(0.5, 15), within(1e-9));
    assertThat(board.entries().getFirst().separatedBy()).isNull();
  }

  /** {@code passes} of four samples on each of the tasks. */
  private static List<Tried> sampled(String method, int... passes) {
    List<Tried> tried = new ArrayList<>();
    for (int i = 0; i < passes.length; i++) {
      tried.add(
          new Tried(
              new MethodAndModel(method, null), "Math/t" + i, 4, passes[i], 0, passes[i], 0, 0));
    }
    return tried;
  }

  @Test
  void severalSamplesOfTheSameTasksAreTested() {
    int[] threeOfFour = new int[30];
    int[] fewer = new int[30];
    for (int i = 0; i < 30; i++) {
      threeOfFour[i] = 3;
      fewer[i] = i < 23 ? 2 : 1;
    }
    // 90 and 53 of 120 on 30 of 40 tasks: all differ in the same direction, p = 2 / 2^30.
    Leaderboard board = board(sampled("worse", fewer), sampled("better", threeOfFour));
    assertThat(ranks(board)).containsExactly("1 better", "2 worse");
    Entry worse = board.entries().getLast();
    assertThat(requireNonNull(worse.separatedBy()).p()).isCloseTo(Math.pow(0.5, 29), within(1e-15));
    assertThat(requireNonNull(worse.separatedBy()).tasks()).isEqualTo(30);
    assertThat(worse.correct().value()).isCloseTo(53 / 120.0, within(1e-12));
  }

  @Test
  void sharesAreOfTheTasksTriedAndFewTriedAreNotToldApart() {
    Leaderboard board = board(solves("all", 0, 20, 40), solves("few", 0, 3, 3));
    assertThat(ranks(board)).containsExactly("1= all", "1= few");
    Entry few = board.entries().getLast();
    assertThat(few.attempted()).isEqualTo(3);
    assertThat(few.correct().value()).isEqualTo(1);
    assertThat(requireNonNull(few.tiedWith()).p()).isEqualTo(1);
    assertThat(requireNonNull(few.tiedWith()).tasks()).isEqualTo(3);
  }

  @Test
  void oneThatIsBehindAnotherHasALowerRankThanIt() {
    // Best is ahead of good, good of weak; the unsure one tried little and is behind nobody.
    Leaderboard board =
        board(
            solves("weak", 0, 2, 40),
            solves("good", 0, 20, 40),
            solves("best", 0, 38, 40),
            solves("unsure", 0, 1, 2));
    assertThat(ranks(board)).containsExactly("1= best", "1= unsure", "3 good", "4 weak");
  }

  @Test
  void fasterIsUnknownIfACorrectCandidateWasNotTimed() {
    Tried untimed = new Tried(new MethodAndModel("b", null), "Math/t0", 1, 1, 0, 0, 0, 0);
    Leaderboard board = board(solves("a", 0, 2, 2), List.of(untimed));
    assertThat(board.entries().getFirst().faster()).isNotNull();
    assertThat(board.entries().getLast().faster()).isNull();
    assertThat(Leaderboard.of(solves("a", 0, 2, 2), 2, false).entries().getFirst().faster())
        .isNull();
  }

  @Test
  void noVerdictsGiveAnEmptyBoard() {
    assertThat(Leaderboard.of(List.of(), 176, true).entries()).isEmpty();
  }
}
