package dev.kbx.llm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The data of a stream of server-sent events. Names of events repeat what the data says. */
final class ServerSentEvents {
  private final BufferedReader lines;

  ServerSentEvents(InputStream stream) {
    this.lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
  }

  /**
   * The next event's data, lines joined; null at the end of the stream. Data that no empty line
   * ends is the last event's.
   */
  @Nullable String next() throws IOException {
    StringBuilder data = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isEmpty() && !data.isEmpty()) break;
      if (!line.startsWith("data:")) continue; // A comment that keeps the connection, or a name.
      if (!data.isEmpty()) data.append('\n');
      data.append(line, line.startsWith("data: ") ? 6 : 5, line.length());
    }
    return data.isEmpty() ? null : data.toString();
  }
}
