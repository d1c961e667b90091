package dev.kbx.prompt;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.MustacheException;
import com.samskivert.mustache.Template;
import dev.kbx.error.InputException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The templates of a folder, in the language Mustache: {@code refine/next} is the file {@code
 * refine/next.mustache}. All files are read at once. Safe for several threads.
 *
 * <p>A template includes another by <code>{{&gt;parts/task}}</code>. Files that Java chooses and
 * passes in as values are declared by a comment: <code>{{! uses advice/ }}</code> for a folder,
 * <code>{{! uses parts/feedback }}</code> for a template.
 */
public final class Prompts {
  private static final String SUFFIX = ".mustache";

  private static final Pattern REFERENCE =
      Pattern.compile("\\{\\{(?:>|!\\s*uses\\s)\\s*([\\w./-]+)\\s*}}");

  private final Path folder;
  private final NavigableMap<String, String> files;
  private final Map<String, Template> compiled = new ConcurrentHashMap<>();
  private final Map<String, String> versions = new ConcurrentHashMap<>();
  private final Mustache.Compiler compiler =
      Mustache.compiler()
          .escapeHTML(false)
          .strictSections(true)
          .emptyStringIsFalse(true)
          .withLoader(name -> new StringReader(text(name + SUFFIX)));

  private Prompts(Path folder, NavigableMap<String, String> files) {
    this.folder = folder;
    this.files = files;
  }

  private static NavigableMap<String, String> read(Path folder) {
    NavigableMap<String, String> files = new TreeMap<>();
    try (Stream<Path> found = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) found.filter(Files::isRegularFile)::iterator) {
        files.put(folder.relativize(file).toString().replace('\\', '/'), Files.readString(file));
      }
      return files;
    } catch (IOException e) {
      throw new InputException(
          "%s: its prompts cannot be read (%s); name a folder like kbx's prompts/"
              .formatted(folder, e.getMessage()));
    }
  }

  /**
   * The prompts that kbx comes with.
   *
   * @param home kbx's folder
   */
  public static Prompts bundled(Path home) {
    return in(home.resolve("prompts"));
  }

  /**
   * The prompts of a folder.
   *
   * @throws InputException if it cannot be read
   */
  public static Prompts in(Path folder) {
    return new Prompts(folder, read(folder));
  }

  /**
   * These prompts, with the files of a folder in place of those of the same names.
   *
   * @throws InputException if it cannot be read
   */
  public Prompts with(Path others) {
    NavigableMap<String, String> all = new TreeMap<>(files);
    all.putAll(read(others));
    return new Prompts(others, all);
  }

  /**
   * A template with these values.
   *
   * @throws InputException if there is no such template, it is no Mustache, or a value that it
   *     names is missing
   */
  String render(String template, Map<String, ?> values) {
    try {
      return compiled.computeIfAbsent(template, this::compile).execute(values);
    } catch (MustacheException.Context e) {
      throw new InputException(
          "%s:%d: no value for '%s'; docs/prompts.md lists the values of each template"
              .formatted(folder.resolve(template + SUFFIX), e.lineNo, e.key));
    }
  }

  private Template compile(String template) {
    String text = text(template + SUFFIX);
    try {
      return compiler.compile(text);
    } catch (MustacheException e) {
      throw new InputException(
          "%s: is not valid Mustache (%s); correct it"
              .formatted(folder.resolve(template + SUFFIX), e.getMessage()));
    }
  }

  /** Whether the folder has this template. */
  boolean has(String template) {
    return files.containsKey(template + SUFFIX);
  }

  /** The text of a file, by its name with its ending. */
  String text(String file) {
    String text = files.get(file);
    if (text == null) {
      throw new InputException(
          "%s: there is no such prompt; restore it from kbx's prompts/"
              .formatted(folder.resolve(file)));
    }
    return text;
  }

  /**
   * SHA-256, in hexadecimal digits, over names and contents of the template and of all files that
   * it includes or declares, directly or not.
   */
  String version(String template) {
    return versions.computeIfAbsent(template, asked -> version(closure(asked + SUFFIX)));
  }

  /** SHA-256, in hexadecimal digits, over names and contents of all files. */
  public String version() {
    return version(files.navigableKeySet());
  }

  private String version(SortedSet<String> names) {
    StringBuilder all = new StringBuilder();
    for (String name : names) all.append(name).append('\0').append(text(name)).append('\0');
    return DigestUtils.sha256Hex(all.toString());
  }

  private SortedSet<String> closure(String file) {
    SortedSet<String> found = new TreeSet<>();
    Deque<String> open = new ArrayDeque<>();
    open.add(file);
    while (!open.isEmpty()) {
      String next = open.remove();
      if (!found.add(next)) continue;
      Matcher reference = REFERENCE.matcher(text(next));
      while (reference.find()) addTo(open, reference.group(1));
    }
    return found;
  }

  private void addTo(Deque<String> open, String reference) {
    if (reference.endsWith("/")) {
      open.addAll(files.subMap(reference, reference + Character.MAX_VALUE).keySet());
    } else {
      open.add(reference + SUFFIX);
    }
  }
}
