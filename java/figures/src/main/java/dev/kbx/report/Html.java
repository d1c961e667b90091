package dev.kbx.report;

import dev.kbx.files.Resources;
import java.io.IOException;
import java.io.Writer;
import java.util.Base64;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;

/** Escaping of untrusted text for HTML and for JSON inside a script element. */
public final class Html {
  private Html() {}

  /** Safe as element content and inside a quoted attribute; empty for null. */
  public static String escape(@Nullable String text) {
    var escaped = new StringBuilder();
    for (char c : Objects.requireNonNullElse(text, "").toCharArray()) {
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> escaped.append(isInvisible(c) ? '\uFFFD' : c);
      }
    }
    return escaped.toString();
  }

  /** Writes a name and its value for a list of facts. */
  static void fact(Writer writer, String name, String value) throws IOException {
    writer.write("<div><dt>%s</dt><dd>%s</dd></div>\n".formatted(escape(name), escape(value)));
  }

  /** Control and format characters; the latter include those that reverse the text after them. */
  private static boolean isInvisible(char c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c != '\n' && c != '\t';
      case Character.FORMAT -> true;
      default -> false;
    };
  }

  /** The text of a file of this package's resources. */
  static String resource(String name) {
    return Resources.text(Html.class, "/report/" + name);
  }

  /**
   * Makes JSON safe inside a script element: no {@code <}, so neither {@code </script} nor {@code
   * <!--} can end or bend it, and no line separator that JavaScript once took for a line break.
   * These characters occur in JSON only inside strings, where an escape means the same.
   */
  static final class ScriptEscapes extends CharacterEscapes {
    private static final long serialVersionUID = 1;

    @Override
    public int[] getEscapeCodesForAscii() {
      int[] codes = standardAsciiEscapesForJSON();
      codes['<'] = ESCAPE_STANDARD;
      codes['>'] = ESCAPE_STANDARD;
      codes['&'] = ESCAPE_STANDARD;
      return codes;
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int c) {
      return c == '\u2028' || c == '\u2029' ? new SerializedString("\\u%04x".formatted(c)) : null;
    }
  }

  /**
   * Page templates of the resources with {@code {{holes}}}. The holes {@code style} and {@code
   * style-hash} are filled here: a content security policy allows only our style, by hash.
   */
  static final class Template {
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
}
