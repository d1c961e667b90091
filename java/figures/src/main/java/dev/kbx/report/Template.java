package dev.kbx.report;

import java.io.IOException;
import java.io.Writer;
import java.util.Base64;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Page templates of the resources with {@code {{holes}}}. The holes {@code style} and {@code
 * style-hash} are filled here: a content security policy allows only our style, by hash.
 */
final class Template {
  private static final Pattern HOLE = Pattern.compile("\\{\\{([a-z-]+)}}");
  private static final String STYLE = Html.resource("report.css");

  private Template() {}

  /** Writes the content of a hole. */
  interface Filler {
    void fill(Writer writer, String hole) throws IOException;
  }

  static void fill(String page, Writer writer, Filler filler) throws IOException {
    String template = Html.resource(page);
    var hole = HOLE.matcher(template);
    int written = 0;
    while (hole.find()) {
      writer.append(template, written, hole.start());
      switch (hole.group(1)) {
        case "style" -> writer.write(STYLE);
        case "style-hash" -> writer.write(hash(STYLE));
        default -> filler.fill(writer, hole.group(1));
      }
      written = hole.end();
    }
    writer.append(template, written, template.length());
  }

  /** Hash of a script or style for a content security policy. */
  static String hash(String text) {
    return "sha256-" + Base64.getEncoder().encodeToString(DigestUtils.sha256(text));
  }
}
