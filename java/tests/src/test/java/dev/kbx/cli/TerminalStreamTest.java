package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Nothing that is printed drives the terminal unless kbx means it. */
class TerminalStreamTest {
  private static final String HOSTILE = "\u001b[2J\u009b1m\u007f\u0007\b\u202eevil\u2066\rover";
  private static final String SHOWN =
      "\\u001b[2J\\u009b1m\\u007f\\u0007\\u0008\\u202eevil\\u2066\\u000dover";

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream to = new PrintStream(bytes, true, StandardCharsets.UTF_8);
  private final TerminalStream safe = TerminalStream.of(to);

  private String written() {
    safe.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void controlCharactersAreEscaped() {
    safe.print("a " + HOSTILE + "\tb é 🚀 \u0007\n");
    safe.printf("%s%n", HOSTILE);
    assertThat(written()).isEqualTo("a " + SHOWN + "\tb é 🚀 \\u0007\n" + SHOWN + "\n");
  }

  @Test
  void messagesBreakBetweenWords() {
    TerminalStream narrow = TerminalStream.of(to, 30);
    narrow.println("kbx: no such file a/very/long/path/of/one/word.py; name another of them");
    narrow.println("a line that kbx did not write is as wide as it is");
    narrow.flush();
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            """
            kbx: no such file
                 a/very/long/path/of/one/word.py;
                 name another of them
            a line that kbx did not write is as wide as it is
            """);
  }

  @Test
  void carriageReturnBeforeNewlineIsKept() {
    safe.print("a\r\nb\r");
    safe.print("\nc\r");
    safe.print("d\r");
    safe.close();
    assertThat(written()).isEqualTo("a\r\nb\r\nc\\u000dd\\u000d");
  }

  /** In whatever parts they come. */
  @Test
  void multibyteCharactersMayBeSplit() {
    byte[] all = ("é🚀" + HOSTILE + "\r\n✓").getBytes(StandardCharsets.UTF_8);
    Random random = new Random(3);
    for (int i = 0; i < 200; i++) {
      bytes.reset();
      int from = 0;
      while (from < all.length) {
        int length = Math.min(all.length - from, 1 + random.nextInt(5));
        safe.write(all, from, length);
        from += length;
      }
      assertThat(written()).isEqualTo("é🚀" + SHOWN + "\r\n✓");
    }
  }

  @Test
  void styleAndEraseSequencesOfKbxAreKept() {
    TerminalStream.style(safe, "\u001b[31mred\u001b[0m " + HOSTILE + "\u001b[5;1H");
    TerminalStream.erase(safe);
    safe.print("\u001b[31m");
    assertThat(written())
        .isEqualTo(
            "\u001b[31mred\u001b[0m " + SHOWN + "\\u001b[5;1H" + "\r\u001b[K" + "\\u001b[31m");
  }

  @Test
  void escapedJsonHasTheSameMeaning() {
    String json = JsonMapper.builder().build().writeValueAsString(List.of("\\" + HOSTILE));
    safe.print(json);
    String written = written();
    assertThat(written).doesNotContain("\u007f", "\u202e", "\u009b");
    assertThat(JsonMapper.builder().build().readTree(written).get(0).asString())
        .isEqualTo("\\" + HOSTILE);
  }

  /** What is not UTF-8 is written as it can be read. */
  @Test
  void outputHasTheEncodingOfTheTerminal() {
    PrintStream latin = new PrintStream(bytes, true, StandardCharsets.ISO_8859_1);
    try (TerminalStream safe = TerminalStream.of(latin)) {
      safe.print("é\u009b1m");
    }
    assertThat(bytes.toString(StandardCharsets.ISO_8859_1)).isEqualTo("é\\u009b1m");
  }
}
