package dev.kbx.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TextProgressTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final AtomicLong nanos = new AtomicLong();

  @Test
  void rewritesALineOnATerminal() {
    TextProgress progress = progress(true);
    progress.update("one");
    progress.update("two");
    progress.note("stop");

    assertThat(written()).isEqualTo("<erase>kbx: one<erase>kbx: two\nkbx: stop\n");
  }

  @Test
  void writesALineEveryFiveSecondsElsewhere() {
    TextProgress progress = progress(false);
    for (int second = 0; second < 11; second++) {
      nanos.set(Duration.ofSeconds(second).toNanos());
      progress.update(second + " s");
    }
    progress.done();

    assertThat(written()).isEqualTo("kbx: 0 s\nkbx: 5 s\nkbx: 10 s\n");
  }

  private TextProgress progress(boolean terminal) {
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    return new TextProgress(out, terminal ? () -> out.print("<erase>") : null, nanos::get);
  }

  private String written() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
