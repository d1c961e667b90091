package dev.kbx.task;

import dev.kbx.files.AtomicFile;
import dev.kbx.syntax.CodeSize;
import dev.kbx.syntax.SyntaxCheck;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * Cache of parsed task files: parsing a suite takes seconds, reading the cache milliseconds. A
 * changed file is parsed again, as is every file by another version of kbx. A cache file that
 * cannot be read or written is ignored.
 */
public final class TaskCache {
  private final @Nullable Path folder;
  private final String version;

  private TaskCache(@Nullable Path folder, String version) {
    this.folder = folder;
    this.version = version;
  }

  /**
   * A cache in a folder, which need not exist.
   *
   * @param version of the program that parses
   */
  public static TaskCache in(Path folder, String version) {
    return new TaskCache(folder, version);
  }

  static TaskCache nowhere() {
    return new TaskCache(null, "");
  }

  /** The cache of a bundled suite. */
  Suite of(String suite) {
    return new Suite(folder == null ? null : folder.resolve(suite));
  }

  /** The tasks of one suite. */
  final class Suite {
    private final @Nullable Path file;
    private final Map<String, Task> before;
    private final Map<String, Task> now = new ConcurrentHashMap<>();

    private Suite(@Nullable Path file) {
      this.file = file;
      this.before = file == null ? Map.of() : load(file);
    }

    /** As {@link TaskFile#read}. Safe for several threads. */
    TaskFile.Result read(String suite, String category, Path task, SyntaxCheck syntax) {
      String key;
      try {
        byte[] bytes = Files.readAllBytes(task);
        // An imported task also depends on its original.
        if (file == null
            || OriginalText.named(new String(bytes, StandardCharsets.UTF_8)).isPresent())
          return TaskFile.read(suite, category, task, syntax);
        key =
            DigestUtils.sha256Hex(bytes) + " " + suite + "/" + category + "/" + task.getFileName();
      } catch (IOException e) {
        return TaskFile.read(suite, category, task, syntax);
      }
      Task known = before.get(key);
      TaskFile.Result read =
          known == null
              ? TaskFile.read(suite, category, task, syntax)
              : new TaskFile.Usable(known.in(task));
      if (read instanceof TaskFile.Usable(Task usable)) now.put(key, usable);
      return read;
    }

    /** Writes the cache if it has new tasks. */
    void keep() {
      if (file == null || before.keySet().containsAll(now.keySet())) return;
      try {
        AtomicFile.cache(file, bytes(now));
      } catch (IOException e) {
        // The tasks will be parsed again.
      }
    }
  }

  private byte[] bytes(Map<String, Task> tasks) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    write(out, version);
    out.writeInt(tasks.size());
    for (Map.Entry<String, Task> entry : tasks.entrySet()) {
      Task task = entry.getValue();
      write(out, entry.getKey());
      write(out, task.suite());
      write(out, task.category());
      write(out, task.name());
      write(out, task.entry());
      write(out, task.signature());
      out.writeInt(task.difficulty() == null ? 0 : task.difficulty());
      write(out, task.dtype() == null ? "" : task.dtype());
      write(out, task.tags());
      out.writeBoolean(task.extra());
      write(out, task.statement());
      write(out, task.reference());
      write(out, task.operations());
      CodeSize size = task.size();
      out.writeInt(size == null ? 0 : size.lines());
      out.writeInt(size == null ? 0 : size.complexity());
      write(out, task.sizes());
    }
    return bytes.toByteArray();
  }

  private Map<String, Task> load(Path file) {
    if (!Files.exists(file)) return Map.of();
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      if (!text(in).equals(version)) return Map.of();
      Map<String, Task> tasks = new HashMap<>();
      for (int left = in.readInt(); left > 0; left--) tasks.put(text(in), task(in, file));
      return tasks;
    } catch (IOException | RuntimeException e) {
      return Map.of();
    }
  }

  private static Task task(DataInputStream in, Path file) throws IOException {
    String suite = text(in);
    String category = text(in);
    String name = text(in);
    String entry = text(in);
    String signature = text(in);
    int difficulty = in.readInt();
    String dtype = text(in);
    List<String> tags = texts(in);
    boolean extra = in.readBoolean();
    String statement = text(in);
    String reference = text(in);
    List<String> operations = texts(in);
    int lines = in.readInt();
    int complexity = in.readInt();
    return new Task(
        suite,
        category,
        name,
        entry,
        signature,
        difficulty == 0 ? null : difficulty,
        dtype.isEmpty() ? null : dtype,
        tags,
        extra,
        statement,
        reference,
        operations,
        complexity == 0 ? null : new CodeSize(lines, complexity),
        file,
        sizes(in));
  }

  private static void write(DataOutputStream out, @Nullable Sizes sizes) throws IOException {
    out.writeBoolean(sizes != null);
    if (sizes == null) return;
    write(out, sizes.stated());
    write(out, sizes.constructor());
    write(out, sizes.inputs());
  }

  private static @Nullable Sizes sizes(DataInputStream in) throws IOException {
    return in.readBoolean() ? new Sizes(texts(in), arguments(in), arguments(in)) : null;
  }

  private static void write(DataOutputStream out, @Nullable Map<String, String> arguments)
      throws IOException {
    out.writeBoolean(arguments != null);
    if (arguments == null) return;
    write(out, List.copyOf(arguments.keySet()));
    write(out, List.copyOf(arguments.values()));
  }

  private static @Nullable Map<String, String> arguments(DataInputStream in) throws IOException {
    if (!in.readBoolean()) return null;
    List<String> names = texts(in);
    List<String> values = texts(in);
    Map<String, String> arguments = new LinkedHashMap<>();
    for (int i = 0; i < names.size(); i++) arguments.put(names.get(i), values.get(i));
    return arguments;
  }

  private static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static void write(DataOutputStream out, List<String> texts) throws IOException {
    out.writeInt(texts.size());
    for (String text : texts) write(out, text);
  }

  private static String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) throw new IOException("cut off");
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static List<String> texts(DataInputStream in) throws IOException {
    List<String> texts = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) texts.add(text(in));
    return texts;
  }
}
