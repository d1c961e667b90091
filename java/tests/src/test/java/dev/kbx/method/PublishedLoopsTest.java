package dev.kbx.method;

import static dev.kbx.method.Played.correct;
import static dev.kbx.method.Played.kernel;
import static dev.kbx.method.Played.wrong;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Traces of KernelBench's and KernelAgent's loops, worked out by hand from their published rules.
 */
class PublishedLoopsTest {
  /**
   * KernelBench's turns: the context is the first prompt, the latest kernel and what was found
   * about it, nothing older. The last block of a reply counts. The loop goes on after a correct
   * kernel; which turn counts is decided afterwards.
   */
  @Test
  void refineSendsTheRequestsOfKernelBench() {
    Played best = new Played(new Refine(4, Choice.BEST));
    Played last = new Played(new Refine(4, Choice.LAST));
    for (Played refine : List.of(best, last)) {
      // Turn 0: the one-shot prompt.
      assertThat(refine.asks()).containsExactly("turn-0");
      assertThat(refine.shown("turn-0")).isEmpty();
      String first = refine.prompt("turn-0");
      refine.reply("turn-0", "A draft:\n" + kernel("draft") + "Better:\n" + kernel("k0"));
      refine.judge("turn-0", wrong());

      // Turn 1: that prompt's task again, the last block of turn 0, and its failure.
      assertThat(refine.prompt("turn-1")).startsWith(first.substring(0, first.indexOf("## Reply")));
      assertThat(refine.shown("turn-1")).containsExactly("k0");
      assertThat(refine.prompt("turn-1")).contains("wrong_values");
      refine.reply("turn-1", "I do not know.");

      // Turn 2: the latest reply had no code; k0 is older than that and is not shown.
      assertThat(refine.shown("turn-2")).isEmpty();
      assertThat(refine.prompt("turn-2")).contains("The reply held no Python source.");
      refine.reply("turn-2", kernel("k2"));
      refine.judge("turn-2", correct(1.5, 1.4));

      // Turn 3: a correct kernel does not end the loop.
      assertThat(refine.shown("turn-3")).containsExactly("k2");
      refine.reply("turn-3", kernel("k3"));
      refine.judge("turn-3", correct(1.6, 1.3));
    }
    // The best by the lower bound, 1.4 against 1.3; or the last turn's.
    assertThat(best.answer().ask()).isEqualTo("turn-2");
    assertThat(last.answer().ask()).isEqualTo("turn-3");
    assertThat(Algorithm.REFINE.turns()).isEqualTo(10);
  }

  private static final int WORKERS = 3;
  private static final int ROUNDS = 6;

  private static String id(int worker, int round) {
    return "worker-%d-%d".formatted(worker, round);
  }

  private static Played kernelAgent() {
    Played agent = new Played(new KernelAgent(WORKERS, ROUNDS, Choice.FIRST, 0, true));
    // The model writes the test before anything else.
    assertThat(agent.asks()).containsExactly("a-test");
    agent.reply("a-test", "```python\nassert own_test()\n```");
    // One seed for each worker, at temperature 0.8, all at the same time.
    assertThat(agent.asks()).containsExactly(id(0, 0), id(1, 0), id(2, 0));
    for (int worker = 0; worker < WORKERS; worker++) {
      assertThat(agent.ask(id(worker, 0)).temperature()).isEqualTo(0.8);
      assertThat(agent.prompt(id(worker, 0))).contains("own_test()");
      agent.reply(id(worker, 0), kernel("w" + worker + "r0"));
    }
    return agent;
  }

  /**
   * Nobody passes: five tests for each worker, and a sixth kernel that is paid for and not tested.
   */
  @Test
  void kernelAgentMakesNineteenRequestsAsPublished() {
    Played agent = kernelAgent();
    for (int round = 0; round < ROUNDS - 1; round++) {
      for (int worker = 0; worker < WORKERS; worker++) {
        agent.judge(id(worker, round), wrong());
        String next = id(worker, round + 1);
        // A worker is shown its own attempts alone, oldest first.
        String own = "w" + worker + "r";
        assertThat(agent.shown(next))
            .isEqualTo(IntStream.rangeClosed(0, round).mapToObj(r -> own + r).toList());
        agent.reply(next, kernel(own + (round + 1)));
      }
    }
    assertThat(agent.requests()).as("1 test + 3 seeds + 15 corrections").isEqualTo(19);
    assertThat(agent.answer().ask()).as("the furthest that was tested").isEqualTo(id(2, 4));
  }

  /** The first pass ends the work of all, whatever its speed, and nobody compares. */
  @Test
  void firstPassWins() {
    Played agent = kernelAgent();
    agent.judge(id(0, 0), wrong());
    assertThat(agent.asks()).containsExactly(id(0, 1));
    agent.judge(id(1, 0), correct(0.2, 0.1));
    assertThat(agent.answer().ask()).isEqualTo(id(1, 0));
    assertThat(agent.answer().why()).isEqualTo("first correct");
  }
}
