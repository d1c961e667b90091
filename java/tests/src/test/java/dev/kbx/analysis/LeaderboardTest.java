package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.analysis.Leaderboard.Entry;
import dev.kbx.analysis.Leaderboard.Tried;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class LeaderboardTest {
  private static List<Tried> solves(String method, int from, int to, int attempted) {
    List<Tried> tried = new ArrayList<>();
    for (int i = 0; i < attempted; i++) {
      int passes = i >= from && i < to ? 1 : 0;
      tried.add(
          new Tried(
              new MethodAndModel(method, null),
              "Math/t" + i,
              1,
              passes,
              passes == 1,
              0,
              passes,
              0,
              0));
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
    // 30 and 27 of 40, of which 27 are common: p = 0.25; 12 common of 30: p < 0.001.
    Leaderboard board =
        board(solves("weak", 0, 12, 40), solves("best", 0, 30, 40), solves("good", 0, 27, 40));
    assertThat(ranks(board)).containsExactly("1= best", "1= good", "3 weak");
    Entry weak = board.entries().getLast();
    assertThat(Objects.requireNonNull(weak.separatedBy()).from().method()).isEqualTo("best");
    assertThat(weak.separatedBy().p()).isCloseTo(3 * 2 * Math.pow(0.5, 18), within(1e-9));
    assertThat(board.entries().getFirst().separatedBy()).isNull();
  }

  @Test
  void aTaskWithoutACandidateIsNotSolved() {
    Leaderboard board = board(solves("all", 0, 20, 40), solves("few", 0, 3, 3));
    assertThat(ranks(board)).containsExactly("1 all", "2 few");
    Entry few = board.entries().getLast();
    assertThat(few.attempted()).isEqualTo(3);
    assertThat(few.correct().value()).isEqualTo(3 / 40.0);
  }

  @Test
  void severalSamplesAreComparedByTheirIntervals() {
    List<Tried> sampled = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      sampled.add(
          new Tried(
              new MethodAndModel("sampled", null), "Math/t" + i, 4, i % 4, false, 0, i % 4, 0, 0));
    }
    Leaderboard board = board(sampled, solves("near", 0, 18, 40), solves("far", 0, 40, 40));
    assertThat(ranks(board)).containsExactly("1 far", "2= near", "2= sampled");
    assertThat(Objects.requireNonNull(board.entries().get(1).separatedBy()).p()).isNotNull();
  }

  @Test
  void fasterIsUnknownIfACorrectCandidateWasNotTimed() {
    Tried untimed = new Tried(new MethodAndModel("b", null), "Math/t0", 1, 1, true, 0, 0, 0, 0);
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
