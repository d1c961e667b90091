package dev.kbx.cli;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Outputs by name, and the golden files that they are compared with. */
final class GoldenFiles {
  static final Path KEPT = Path.of("java/tests/src/test/resources/golden");

  private static final String WRITE = "-Dtest=GoldenOutputsTest -Dkbx.golden=write";

  /** Parts of a page that are not its text. */
  private static final Pattern UNREAD =
      Pattern.compile("(?s)<(script|style)\\b.*?</\\1>|<link\\b[^>]*>|<!--.*?-->");

  private static final Pattern ELEMENT =
      Pattern.compile("<(/?[a-zA-Z0-9!]+)((?:\"[^\"]*\"|'[^']*'|[^'\">])*)>([^<]*)");

  /** Attributes that a reader sees or follows. */
  private static final Pattern ATTRIBUTE =
      Pattern.compile("\\b(href|title|alt|aria-label|value|placeholder|colspan)=\"[^\"]*\"");

  /** Elements that are kept even if they are empty: an empty cell means unknown. */
  private static final Set<String> STRUCTURE = Set.of("table", "tr", "th", "td");

  /** Numbers with more digits than are kept: the last ones may differ between processors. */
  private static final Pattern LONG = Pattern.compile("-?\\d+\\.\\d{9,}(?:[eE]-?\\d+)?");

  /** A JSON object or array without others in it, which becomes one line. */
  private static final Pattern LEAF = Pattern.compile("\\{[^{}\\[\\]]*}|\\[[^{}\\[\\]]*]");

  private static final int MOST_SHOWN = 5;

  private final SortedMap<String, String> made = new TreeMap<>();

  /**
   * Adds an output.
   *
   * @param name path of its golden file; the ending tells the format
   */
  void add(String name, String text) {
    made.put(name, text(name, text));
  }

  /**
   * Adds files of a folder.
   *
   * @param glob which of them
   */
  void addFolder(String name, Path folder, String glob) throws IOException {
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
    for (Path file : files(folder)) {
      Path path = folder.relativize(file);
      if (matcher.matches(path)) add(name + "/" + path, Files.readString(file));
    }
  }

  /** Compares all outputs with the golden files; with {@code -Dkbx.golden=write} replaces them. */
  void check() throws IOException {
    if ("write".equals(System.getProperty("kbx.golden"))) write();
    Set<String> names = new TreeSet<>(made.keySet());
    names.addAll(kept());
    List<String> differences = new ArrayList<>();
    for (String name : names) {
      Path file = KEPT.resolve(name);
      String before = Files.exists(file) ? Files.readString(file) : "";
      String now = made.getOrDefault(name, "");
      if (!before.equals(now) || !Files.exists(file) || !made.containsKey(name)) {
        differences.add(name + difference(before.lines().toList(), now.lines().toList()));
      }
    }
    if (differences.isEmpty()) return;
    throw new AssertionError(
        "%d of %d outputs differ from %s. If you mean to change them, run mvn test %s\n%s"
            .formatted(
                differences.size(),
                names.size(),
                KEPT,
                WRITE,
                String.join(
                    "\n", differences.subList(0, Math.min(MOST_SHOWN, differences.size())))));
  }

  private static String difference(List<String> before, List<String> now) {
    int line = 0;
    while (line < Math.min(before.size(), now.size()) && before.get(line).equals(now.get(line))) {
      line++;
    }
    StringBuilder text = new StringBuilder(":" + (line + 1));
    for (int i = line; i < Math.min(line + 3, before.size()); i++) {
      text.append("\n  - ").append(before.get(i));
    }
    for (int i = line; i < Math.min(line + 3, now.size()); i++) {
      text.append("\n  + ").append(now.get(i));
    }
    return text.toString();
  }

  private void write() throws IOException {
    for (String name : kept()) if (!made.containsKey(name)) Files.delete(KEPT.resolve(name));
    for (Map.Entry<String, String> each : made.entrySet()) {
      Path file = KEPT.resolve(each.getKey());
      Files.createDirectories(file.getParent());
      Files.writeString(file, each.getValue());
    }
  }

  /** Names of the golden files. */
  private static List<String> kept() throws IOException {
    return files(KEPT).stream()
        .map(file -> KEPT.relativize(file).toString())
        .filter(name -> !name.contains("/input/"))
        .toList();
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static String text(String name, String text) {
    if (name.endsWith(".html")) return read(text);
    if (!name.matches(".*\\.(jsonl?|csv)")) return text;
    String rounded = LONG.matcher(text).replaceAll(number -> rounded(number.group()));
    if (!name.endsWith(".json")) return rounded;
    return LEAF.matcher(rounded).replaceAll(GoldenFiles::joined).replace("}, {", "},\n{");
  }

  private static String rounded(String number) {
    BigDecimal value = new BigDecimal(number).round(new MathContext(7)).stripTrailingZeros();
    return value.scale() < 1 ? value.setScale(1).toPlainString() : value.toString();
  }

  private static String joined(MatchResult leaf) {
    return Matcher.quoteReplacement(leaf.group().replaceAll("\\n *", " "));
  }

  /** The text of a page, an element a line. */
  private static String read(String html) {
    StringBuilder lines = new StringBuilder();
    Matcher element = ELEMENT.matcher(UNREAD.matcher(html).replaceAll(""));
    while (element.find()) {
      String tag = element.group(1);
      StringBuilder line = new StringBuilder();
      Matcher attribute = ATTRIBUTE.matcher(element.group(2));
      while (attribute.find()) line.append(' ').append(attribute.group());
      String text = element.group(3).strip();
      String said = tag.equals("pre") ? text : text.replaceAll("\\s+", " ");
      if (line.isEmpty() && said.isEmpty() && !STRUCTURE.contains(tag)) continue;
      lines.append(tag.startsWith("/") ? "" : "<" + tag + line + ">").append(said).append('\n');
    }
    return lines.toString();
  }
}
