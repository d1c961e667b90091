package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.stats.KaplanMeier.Observation;
import dev.kbx.stats.KaplanMeier.Step;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KaplanMeierTest {
  private static List<List<Observation>> of(int[] events, int... censored) {
    List<List<Observation>> all = new ArrayList<>();
    for (int time : events) all.add(List.of(new Observation(time, true)));
    for (int time : censored) all.add(List.of(new Observation(time, false)));
    return all;
  }

  /**
   * Weeks of remission under 6-mercaptopurine: E. J. Freireich et al., Blood 21 (1963) 699–716. The
   * estimates are in every textbook since E. A. Gehan, Biometrika 52 (1965) 203–223.
   */
  private static KaplanMeier remission() {
    return KaplanMeier.of(
        of(
            new int[] {6, 6, 6, 7, 10, 13, 16, 22, 23},
            6,
            9,
            10,
            11,
            17,
            19,
            20,
            25,
            32,
            32,
            34,
            35));
  }

  @Test
  void knownValues() {
    List<Step> events = remission().steps().stream().filter(step -> step.events() > 0).toList();
    assertThat(events)
        .extracting(Step::time, Step::atRisk, Step::events)
        .containsExactly(
            tuple(6, 21, 3),
            tuple(7, 17, 1),
            tuple(10, 15, 1),
            tuple(13, 12, 1),
            tuple(16, 11, 1),
            tuple(22, 7, 1),
            tuple(23, 6, 1));
    double[] surviving = {0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482};
    for (int i = 0; i < surviving.length; i++) {
      assertThat(1 - events.get(i).share()).isCloseTo(surviving[i], within(5e-5));
    }
    assertThat(remission().median()).isEqualTo(23);
    assertThat(remission().steps().getFirst().censored()).isEqualTo(1);
  }

  /** Greenwood's standard error at 10 weeks is 0.0963: 20.06 observations without censoring. */
  @Test
  void intervalIsWilsonsForTheEffectiveNumber() {
    Step ten = remission().steps().stream().filter(s -> s.time() == 10).findFirst().orElseThrow();
    double effective = 0.7529 * 0.2471 / (0.0963 * 0.0963);
    Bootstrap.Interval expected = Rate.interval(0.2471, effective);
    assertThat(ten.low()).isCloseTo(expected.low(), within(1e-3));
    assertThat(ten.high()).isCloseTo(expected.high(), within(1e-3));
  }

  @Test
  void withoutCensoringItIsTheShareWithWilsonsInterval() {
    KaplanMeier all = KaplanMeier.of(of(new int[] {1, 1, 2, 4}, 5));
    assertThat(all.steps())
        .extracting(Step::time, Step::share)
        .containsExactly(tuple(1, 0.4), tuple(2, 0.6), tuple(4, 0.8), tuple(5, 0.8));
    Rate rate = new Rate(2, 5);
    assertThat(all.steps().getFirst().low()).isCloseTo(rate.low(), within(1e-12));
    assertThat(all.steps().getFirst().high()).isCloseTo(rate.high(), within(1e-12));
    assertThat(KaplanMeier.of(of(new int[0], 2, 3)).median()).as("no event").isNull();
    Step every = KaplanMeier.of(of(new int[] {1, 1})).steps().getFirst();
    assertThat(every.low()).isCloseTo(new Rate(2, 2).low(), within(1e-12));
    assertThat(every.high()).isEqualTo(1);
  }

  /** Twenty observations of two tasks are not twenty independent ones. */
  @Test
  void samplesOfATaskAreDrawnTogether() {
    List<Observation> solved = new ArrayList<>();
    List<Observation> unsolved = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      solved.add(new Observation(1, true));
      unsolved.add(new Observation(2, false));
    }
    Step first = KaplanMeier.of(List.of(solved, unsolved)).steps().getFirst();
    assertThat(first.share()).isEqualTo(0.5);
    assertThat(first.low()).isZero();
    assertThat(first.high()).isEqualTo(1);
    Step alike = KaplanMeier.of(List.of(solved, solved)).steps().getFirst();
    assertThat(alike.low()).as("as two tasks").isCloseTo(new Rate(2, 2).low(), within(1e-12));
  }

  @Test
  void timesBeginAtOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Observation(0, true));
    assertThatIllegalArgumentException().isThrownBy(() -> KaplanMeier.of(List.of()));
  }
}
