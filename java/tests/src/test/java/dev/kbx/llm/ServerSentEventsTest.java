package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerSentEventsTest {
  private static List<String> events(String stream) throws IOException {
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    Exchange.ServerSentEvents events =
        new Exchange.ServerSentEvents(new ByteArrayInputStream(bytes));
    List<String> all = new ArrayList<>();
    for (String data = events.next(); data != null; data = events.next()) all.add(data);
    return all;
  }

  @Test
  void dataOfEventsIsRead() throws Exception {
    assertThat(events("data: a\n\ndata:b\n\n")).containsExactly("a", "b");
    assertThat(events("event: x\r\ndata: a\r\nid: 1\r\n\r\ndata: b\r\n\r\n"))
        .containsExactly("a", "b");
    assertThat(events(": comment\n\n\n\ndata: a\ndata: b\n\n")).containsExactly("a\nb");
    assertThat(events("data: Größe\n\ndata: no end")).containsExactly("Größe", "no end");
    assertThat(events("")).isEmpty();
  }
}
