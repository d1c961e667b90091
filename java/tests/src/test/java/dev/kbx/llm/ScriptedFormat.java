package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/**
 * The bytes of a whole HTTP answer: a reply in the format of the request, by the formats that the
 * vendors publish.
 */
final class ScriptedFormat {
  private static final int PIECES = 4;

  private ScriptedFormat() {}

  static byte[] of(ScriptedProvider.Asked request, ScriptedReply.Text text) {
    if (request.isStream()) {
      return stream(
          request.isAnthropic()
              ? ScriptedAnthropic.events(request.model(), text)
              : ScriptedOpenAi.events(request.model(), text));
    }
    ObjectNode document =
        request.isAnthropic()
            ? ScriptedAnthropic.whole(request.model(), text)
            : ScriptedOpenAi.whole(request.model(), text);
    return answer(200, Map.of("Content-Type", "application/json"), JsonText.write(document));
  }

  static byte[] answer(int status, Map<String, String> headers, String body) {
    byte[] bytes = body.getBytes(UTF_8);
    Map<String, String> all = new TreeMap<>(headers);
    all.put("Content-Length", String.valueOf(bytes.length));
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Scripted\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return (head + "\r\n" + body).getBytes(UTF_8);
  }

  /** Chunks of a size that divides events and characters. */
  private static byte[] stream(List<String> events) {
    byte[] body = String.join("", events).getBytes(UTF_8);
    var out = new ByteArrayOutputStream();
    out.writeBytes(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
            .getBytes(UTF_8));
    int size = Math.max(7, body.length / 31);
    for (int at = 0; at < body.length; at += size) {
      int length = Math.min(size, body.length - at);
      out.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(UTF_8));
      out.write(body, at, length);
      out.writeBytes("\r\n".getBytes(UTF_8));
    }
    out.writeBytes("0\r\n\r\n".getBytes(UTF_8));
    return out.toByteArray();
  }

  static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    int size = Math.max(1, text.length() / PIECES);
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + size);
      if (end < text.length() && Character.isLowSurrogate(text.charAt(end))) end++;
      pieces.add(text.substring(at, end));
      at = end;
    }
    return pieces;
  }

  static String event(ObjectNode data) {
    return "data: " + JsonText.write(data) + "\n\n";
  }
}
