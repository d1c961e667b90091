package dev.kbx.method;

import static dev.kbx.method.Played.correct;
import static dev.kbx.method.Played.kernel;
import static dev.kbx.method.Played.wrong;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Judgement;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Traces of GEAK (GaAgent) worked out by hand from its published rules:
 *
 * <ol>
 *   <li>Without live candidates, once a candidate passed, or after five rounds of debugging, all
 *       descendants start anew: from the pool, or from the task alone if the pool is empty.
 *   <li>Otherwise each candidate is written again from its own history.
 *   <li>The model scores each candidate that has not passed, before the test, from its source; the
 *       sum of the numbers in its reply counts.
 *   <li>Each candidate is reflected on, by one prompt if it fails and another if it passes.
 *   <li>A history keeps the five attempts of the highest scores, highest first. It is never reset.
 *   <li>The pool keeps five. While it has room a passing kernel is added; then one must beat the
 *       best, and takes its place. It is sorted and shown best first, although the prompt says
 *       otherwise. Speed is the measured speedup.
 *   <li>A reply without code leaves the candidate as it was; it is tested, scored and reflected on
 *       again.
 *   <li>The scores of a round are asked for in a row, which ends with the first that is no JSON.
 *   <li>The answer is the first of the pool.
 * </ol>
 */
class PublishedGeakTest {
  private static final String REFUSAL = "I cannot write that.";

  /** What comes of one descendant in a round; a score of a negative number is no JSON. */
  private record Descendant(String reply, int score, Judgement judgement) {
    static Descendant of(String name, int score, Judgement judgement) {
      return new Descendant(kernel(name), score, judgement);
    }
  }

  private static void score(Played geak, String id, int score) {
    String parts = "{\"correctness\": %d, \"speed\": 1, \"why\": \"7\"}".formatted(score - 1);
    geak.reply(id, score < 0 ? "It is fine." : "My scores: " + parts);
  }

  private static String id(int round, int number, String what) {
    return "round-%d-%d-%s".formatted(round, number, what);
  }

  /** A round in which both descendants reply with code and both scores can be read. */
  private static void round(Played geak, int round, Descendant first, Descendant second) {
    List<Descendant> both = List.of(first, second);
    for (int i = 0; i < 2; i++) geak.reply(id(round, i, "kernel"), both.get(i).reply());
    // Rule 3: before any test. Rule 8: one after the other.
    assertThat(geak.trials()).containsExactly(id(round, 0, "kernel"), id(round, 1, "kernel"));
    for (int i = 0; i < 2; i++) {
      assertThat(geak.asks()).containsExactly(id(round, i, "score"));
      assertThat(geak.prompt(id(round, i, "score"))).doesNotContain("wrong_values", "Speedup");
      score(geak, id(round, i, "score"), both.get(i).score());
    }
    for (int i = 0; i < 2; i++) geak.judge(id(round, i, "kernel"), both.get(i).judgement());
    reflect(geak, round);
  }

  private static void reflect(Played geak, int round) {
    assertThat(geak.asks()).containsExactly(id(round, 0, "reflection"), id(round, 1, "reflection"));
    for (int i = 0; i < 2; i++) {
      geak.reply(id(round, i, "reflection"), "Reflection %d of round %d.".formatted(i, round));
    }
  }

  /** What both open prompts of a round show. */
  private static void assertShown(Played geak, int round, List<String> first, List<String> second) {
    assertThat(geak.asks()).containsExactly(id(round, 0, "kernel"), id(round, 1, "kernel"));
    assertThat(geak.shown(id(round, 0, "kernel"))).isEqualTo(first);
    assertThat(geak.shown(id(round, 1, "kernel"))).isEqualTo(second);
  }

  @Test
  void traceEqualsOneComputedByHand() {
    Played geak = new Played(new Geak(8, 2, true));

    // Round 0. Rule 1: no candidates and no pool, so both start from the task alone.
    assertShown(geak, 0, List.of(), List.of());
    round(geak, 0, Descendant.of("a0", 7, wrong()), Descendant.of("b0", 9, wrong()));

    // Round 1. Rule 2: both failed; each is written again from its own history.
    assertShown(geak, 1, List.of("a0"), List.of("b0"));
    assertThat(geak.prompt("round-1-0-kernel")).contains("Reflection 0 of round 0.");
    geak.reply("round-1-0-kernel", kernel("a1"));
    score(geak, "round-1-0-score", 5);
    geak.judge("round-1-0-kernel", wrong());
    // Rule 7: no code, so b0 stays, is scored again (2 now) and reflected on again.
    geak.reply("round-1-1-kernel", REFUSAL);
    assertThat(geak.shown("round-1-1-score")).containsExactly("b0");
    score(geak, "round-1-1-score", 2);
    assertThat(geak.shown("round-1-1-reflection")).containsExactly("b0");
    reflect(geak, 1);

    // Round 2. Rule 2 again. Rule 5: a0 scored 7, a1 5, so the older is shown first; b0 9 and 2.
    assertShown(geak, 2, List.of("a0", "a1"), List.of("b0", "b0"));
    geak.reply("round-2-0-kernel", kernel("a2"));
    geak.reply("round-2-1-kernel", kernel("b2"));
    score(geak, "round-2-0-score", 1);
    score(geak, "round-2-1-score", 4);
    geak.judge("round-2-0-kernel", correct(1.5, 1.4));
    geak.judge("round-2-1-kernel", wrong());
    // Rule 4: a2 passes, b2 fails.
    assertThat(geak.prompt("round-2-0-reflection")).contains("The kernel is correct.");
    assertThat(geak.prompt("round-2-1-reflection")).contains("The kernel failed.");
    reflect(geak, 2);

    // Round 3. Rule 1: one passed, so both start anew. Rule 6: from a pool of a2 alone.
    assertShown(geak, 3, List.of("a2"), List.of("a2"));
    geak.reply("round-3-0-kernel", kernel("c0"));
    geak.reply("round-3-1-kernel", kernel("d0"));
    // Rule 8: the first score is no JSON, so that the second is not asked for.
    score(geak, "round-3-0-score", -1);
    assertThat(geak.asks()).isEmpty();
    geak.judge("round-3-0-kernel", correct(1.2, 1.1));
    geak.judge("round-3-1-kernel", correct(2.0, 1.7));
    reflect(geak, 3);

    // Round 4. Rule 6: d0 2.0, a2 1.5, c0 1.2, best first under a heading that says the slowest.
    assertShown(geak, 4, List.of("d0", "a2", "c0"), List.of("d0", "a2", "c0"));
    assertThat(geak.prompt("round-4-0-kernel")).contains("the slowest first and the fastest last");
    round(
        geak,
        4,
        Descendant.of("e0", 6, correct(1.1, 1.0)),
        Descendant.of("f0", 6, correct(1.9, 1.8)));

    // Round 5. The pool is full.
    List<String> full = List.of("d0", "f0", "a2", "c0", "e0");
    assertShown(geak, 5, full, full);
    // Rule 6: g0 is faster than four of five and is dropped. h0 beats the best and takes its place:
    // d0 is lost, and e0, the slowest, stays. That h0's interval reaches far below d0's is no
    // matter.
    round(
        geak,
        5,
        Descendant.of("g0", 2, correct(1.95, 1.9)),
        Descendant.of("h0", 6, correct(2.5, 0.5)));

    // Round 6. Rule 1: the last round's passed.
    List<String> replaced = List.of("h0", "f0", "a2", "c0", "e0");
    assertShown(geak, 6, replaced, replaced);
    round(geak, 6, Descendant.of("i0", 3, wrong()), Descendant.of("j0", 3, wrong()));

    // Round 7. Rule 2: both failed. Rule 5, first: a0 7, e0 6, a1 5, i0 3, g0 2; below them a2 1
    // and
    // c0 0. Second: b0 9, f0 6, h0 6, b2 4, j0 3; below them b0's second score 2 and d0 0.
    assertShown(
        geak, 7, List.of("a0", "e0", "a1", "i0", "g0"), List.of("b0", "f0", "h0", "b2", "j0"));
    round(geak, 7, Descendant.of("k0", 1, wrong()), Descendant.of("l0", 1, wrong()));

    // Rule 9.
    assertThat(geak.answer().ask()).isEqualTo("round-5-1-kernel");
    assertThat(geak.answer().why()).isEqualTo("highest measured speedup");
    // 16 kernels, 16 reflections, and 15 scores, as one was not asked for.
    assertThat(geak.requests()).isEqualTo(47);
    assertThat(new Geak(3, 4, true).mostCalls()).as("the published ceiling").isEqualTo(36);
  }

  @Test
  void debuggingEndsAfterFiveRounds() {
    Played geak = new Played(new Geak(8, 1, true));
    for (int round = 0; round < 8; round++) {
      // Rule 1: rounds 0 and 6 start anew; the pool is empty. Rule 2: rounds 1 to 5 and 7.
      boolean anew = round == 0 || round == 6;
      assertThat(geak.shown(id(round, 0, "kernel")).isEmpty()).as("round " + round).isEqualTo(anew);
      geak.reply(id(round, 0, "kernel"), kernel("k" + round));
      score(geak, id(round, 0, "score"), round);
      geak.judge(id(round, 0, "kernel"), wrong());
      geak.reply(id(round, 0, "reflection"), "No.");
    }
    // Rule 5: round 7 had k2 to k6, the newest scored highest.
    assertThat(geak.answer().ask()).as("none passed: the last").isEqualTo("round-7-0-kernel");
  }

  /** The same rules with the defects mended: who is shown, who stays, who wins. */
  @Test
  void correctedPoolKeepsTheFastestByLowerBound() {
    Played geak = new Played(new Geak(5, 2, false));
    double[][] lows = {{1.5, 1.2}, {1.1, 2.0}, {1.9, 1.8}, {1.95, 0.5}};
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < 2; i++) geak.reply(id(round, i, "kernel"), kernel("k" + round + i));
      for (int i = 0; i < 2; i++) {
        geak.judge(id(round, i, "kernel"), correct(3 - lows[round][i], lows[round][i]));
      }
      // The model scores nothing.
      reflect(geak, round);
    }
    // Of eight the five of the highest lower bounds, the slowest first.
    List<String> pool = List.of("k00", "k21", "k20", "k30", "k11");
    assertShown(geak, 4, pool, pool);
    for (int i = 0; i < 2; i++) geak.reply(id(4, i, "kernel"), REFUSAL);
    assertThat(geak.answer().ask()).isEqualTo("round-1-1-kernel");
  }
}
