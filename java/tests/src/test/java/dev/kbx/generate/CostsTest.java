package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.method.Event;
import dev.kbx.verdict.Spent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CostsTest {
  private static Spent reply(@Nullable Usage usage, boolean cached) {
    return Costs.calls(1)
        .plus(
            Costs.of(
                new Event.Reply(
                    "a", "k", "m", "now", "text", null, "stop", usage, 0.5, 1, 1, null, cached)));
  }

  @Test
  void missingTokenCountsAreUnknownNotZero() {
    assertThat(reply(new Usage(10L, 20L, null, null), false).uncounted()).isZero();
    assertThat(reply(null, false).uncounted()).isEqualTo(1);
    Spent half = reply(new Usage(10L, null, null, null), false);
    assertThat(half.tokens()).isEqualTo(10);
    assertThat(half.uncounted()).isEqualTo(1);
    assertThat(reply(null, true).uncounted()).as("cached replies are free").isZero();
    assertThat(Costs.calls(1).plus(Costs.of(new Event.Lost("a"))).uncounted()).isEqualTo(1);
    assertThat(half.plus(half).uncounted()).isEqualTo(2);
  }
}
