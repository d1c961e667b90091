package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Json;
import java.time.Instant;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ServerLogTest {
  private static final ServerLog.Lines LINES = new ServerLog.Lines();

  private static JsonNode line(LogRecord each) {
    String text = LINES.format(each);
    assertThat(text).endsWith("\n").doesNotContain("\n\n").hasLineCount(1);
    return Json.mapper().readTree(text);
  }

  private static LogRecord logged(Level level, String message) {
    LogRecord logged = new LogRecord(level, message);
    logged.setInstant(Instant.EPOCH);
    return logged;
  }

  @Test
  void eventIsOneJsonObjectWithItsFields() {
    LogRecord event = logged(Level.INFO, "request");
    event.setLoggerName("dev.kbx.server.events");
    event.setParameters(new Object[] {Map.of("path", "/v1/x\n\"y", "status", 200)});
    JsonNode line = line(event);
    assertThat(line.path("event").asString()).isEqualTo("request");
    assertThat(line.path("path").asString()).isEqualTo("/v1/x\n\"y");
    assertThat(line.path("status").asInt()).isEqualTo(200);
    assertThat(line.path("time").asString()).isEqualTo("1970-01-01T00:00:00Z");
  }

  @Test
  void warningIsOneLine() {
    LogRecord warning = logged(Level.WARNING, "judging failed");
    warning.setLoggerName("dev.kbx.server");
    warning.setThrown(new IllegalStateException("two\nlines"));
    JsonNode line = line(warning);
    assertThat(line.path("event").asString()).isEqualTo("log");
    assertThat(line.path("level").asString()).isEqualTo("warning");
    assertThat(line.path("stack").asString()).contains("two\nlines", "ServerLogTest");
  }
}
