package dev.kbx.server;

import dev.kbx.verdict.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * What the server does, an object in a line of stderr for each request and each judgement, if that
 * is asked for. Nothing secret is in it: no header, no query, no source.
 */
public final class ServerLog {
  private static final Logger EVENTS = Logger.getLogger("dev.kbx.server.events");

  static {
    EVENTS.setLevel(Level.OFF);
  }

  private ServerLog() {}

  /** Events are written from now on, and with them all warnings in the same form. */
  public static void json() {
    Logger root = Logger.getLogger("");
    for (var handler : root.getHandlers()) root.removeHandler(handler);
    ConsoleHandler handler = new ConsoleHandler();
    handler.setFormatter(new Lines());
    root.addHandler(handler);
    EVENTS.setLevel(Level.INFO);
  }

  /** Writes an event, if that is asked for. */
  static void event(String name, Map<String, ?> fields) {
    if (!EVENTS.isLoggable(Level.INFO)) return;
    LogRecord event = new LogRecord(Level.INFO, name);
    event.setLoggerName(EVENTS.getName());
    event.setParameters(new Object[] {fields});
    EVENTS.log(event);
  }

  /** A record as one line of JSON. */
  static final class Lines extends Formatter {
    @Override
    public String format(LogRecord each) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("time", Instant.ofEpochMilli(each.getMillis()).toString());
      line.put("level", each.getLevel().getName().toLowerCase(Locale.ROOT));
      Object[] parameters = each.getParameters();
      if (EVENTS.getName().equals(each.getLoggerName())
          && parameters != null
          && parameters[0] instanceof Map<?, ?> fields) {
        line.put("event", each.getMessage());
        fields.forEach((name, value) -> line.put(String.valueOf(name), value));
      } else {
        line.put("event", "log");
        line.put("logger", each.getLoggerName());
        line.put("message", formatMessage(each));
        Throwable thrown = each.getThrown();
        if (thrown != null) line.put("stack", stack(thrown));
      }
      return Json.mapper().writeValueAsString(line) + "\n";
    }

    private static String stack(Throwable thrown) {
      StringWriter text = new StringWriter();
      thrown.printStackTrace(new PrintWriter(text));
      return text.toString();
    }
  }
}
