package dev.kbx.candidate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Source in XML elements, as in {@code <answer><code>…</code></answer>}. */
final class TaggedCode {
  private static final Pattern OPENING =
      Pattern.compile("<([A-Za-z_][\\w.-]{0,31})(?:\\s[^<>\\n]{0,200})?>");

  private static final Pattern OF_CODE =
      Pattern.compile(
          ".*(?:code|kernel|solution|answer|program|source|implementation|content|response|output"
              + "|result|file|script|python|triton|cuda)");

  private static final Pattern ENTITY = Pattern.compile("&(lt|gt|amp|quot|apos|#39);");
  private static final String CDATA = "<![CDATA[";
  private static final String CDATA_END = "]]>";

  private TaggedCode() {}

  /**
   * The contents of elements whose names say that they may hold source, outermost ones only, in
   * order. One that is not closed ends with the text.
   */
  static List<Wrapped> contents(String text) {
    List<Wrapped> contents = new ArrayList<>();
    Matcher opening = OPENING.matcher(text);
    for (int from = 0; opening.find(from); ) {
      from = opening.end();
      String name = opening.group(1);
      if (!OF_CODE.matcher(name.toLowerCase(Locale.ROOT)).matches()) continue;
      int closing = text.indexOf("</" + name + ">", from);
      int end = closing < 0 ? text.length() : closing;
      contents.add(new Wrapped(Wrapped.XML, from, end, plain(text.substring(from, end))));
      from = end;
    }
    return contents;
  }

  private static String plain(String content) {
    String inner = content.startsWith("\n") ? content.substring(1) : content;
    String stripped = inner.strip();
    if (stripped.startsWith(CDATA)) return characters(stripped);
    return unescaped(outdented(inner));
  }

  private static String characters(String data) {
    String body = data.substring(CDATA.length());
    int end = body.lastIndexOf(CDATA_END);
    return (end < 0 ? body : body.substring(0, end)).replace("]]]]><![CDATA[>", "]]>");
  }

  /** Without the indentation of all lines, if the first one has any. */
  private static String outdented(String content) {
    boolean indented = !content.isEmpty() && " \t".indexOf(content.charAt(0)) >= 0;
    return indented ? content.stripTrailing().stripIndent() + "\n" : content;
  }

  /** Escaped text has no {@code <} left; other text with an entity in it is meant as it is. */
  private static String unescaped(String content) {
    if (content.indexOf('<') >= 0 || content.indexOf('&') < 0) return content;
    return ENTITY
        .matcher(content)
        .replaceAll(entity ->
            switch (entity.group(1)) {
              case "lt" -> "<";
              case "gt" -> ">";
              case "amp" -> "&";
              case "quot" -> "\"";
              default -> "'";
            });
  }
}
