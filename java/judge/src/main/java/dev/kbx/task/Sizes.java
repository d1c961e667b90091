package dev.kbx.task;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sizes at which a task is measured, as far as they can be read from its file without running
 * it.
 *
 * @param stated as in the file: {@code batch=4096, features=393216}; one for each size of a
 *     function, a single one for a module; empty if the file has none
 * @param constructor arguments of a module's constructor in Python syntax, {@code bias_shape} →
 *     {@code (128, 1, 1)}; null if unknown without running it
 * @param inputs arguments of {@code forward} likewise, {@code x} → {@code float32 (4096, 393216)}
 */
public record Sizes(
    List<String> stated,
    @Nullable Map<String, String> constructor,
    @Nullable Map<String, String> inputs) {
  static final Sizes NONE = new Sizes(List.of(), null, null);

  public Sizes {
    stated = List.copyOf(stated);
  }

  /** Reads the task's file, and the original's if the task is an imported module. */
  public static Sizes of(Task task) {
    try {
      PythonSource own = PythonSource.parse(ByteOrderMark.read(task.file()));
      if (!task.isModule()) return functions(own);
      String dtype = task.dtype() == null ? "float32" : task.dtype();
      if (!own.names().contains("ORIGINAL")) return new ModuleSizes(own, dtype).published();
      PythonSource.Constant file = own.constants().get("FILE");
      if (file == null) return NONE;
      Path original = Path.of(String.valueOf(file.value()));
      PythonSource source = PythonSource.parse(OriginalText.read(original).text());
      return new ModuleSizes(source, "float32").original();
    } catch (IOException | InvalidPathException | OutOfMemoryError _) {
      return NONE; // The file or its original is missing: the worker reports it.
    }
  }

  /** Whether nothing is known. */
  @JsonIgnore
  public boolean isEmpty() {
    return stated.isEmpty() && constructor == null && inputs == null;
  }

  /** {@code a=64, b=(128, 1, 1)}; empty if unknown or none. */
  public static String joined(@Nullable Map<String, String> arguments, String between) {
    if (arguments == null) return "";
    List<String> all = new ArrayList<>();
    arguments.forEach((name, value) -> all.add(name + between + value));
    return String.join(", ", all);
  }

  private static Sizes functions(PythonSource source) {
    Node sizes = ModuleSizes.assigned(source, "SIZES");
    if (sizes == null) return NONE;
    List<String> stated =
        sizes.children().stream()
            .filter(item -> item.is("call"))
            .map(item -> arguments(source, item))
            .toList();
    return new Sizes(stated, null, null);
  }

  /** The text between the parentheses of a call, on one line. */
  static String arguments(PythonSource source, Node call) {
    Node list = call.child("arguments");
    if (list == null) return "";
    return String.join(
        ", ",
        list.children().stream()
            .filter(item -> !item.is("(", ")", ","))
            .map(item -> source.text(item).replaceAll("\\s+", " "))
            .toList());
  }
}
