package dev.kbx.task;

import dev.kbx.files.AtomicFile;
import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.commons.codec.digest.DigestUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The suite of the gradients of another suite's tasks, {@code kernelbenchx-backward} of {@code
 * kernelbenchx}: a file for each, which holds the forward's and says that its gradients are the
 * task. The worker derives the rest. Which tasks have a gradient, and why others have none, is in
 * {@code backward.json} of the forward's suite; where that is missing, judging tells.
 */
public final class BackwardSuite {
  /** What follows the name of the forward's suite. */
  public static final String SUFFIX = "-backward";

  private static final String RECORD = "backward.json";
  private static final String PUBLISHED = "published.json";

  /** Parameters that say where a result goes; as in {@code kbx.oracle.suite_backward}. */
  private static final Set<String> PLACES = Set.of("out", "inplace");

  /** What the statement says of entries. */
  private static final String FUNCTION =
      " It returns a tuple of them, or a tensor if there is one: an argument that is no"
          + " floating-point tensor in a call, or that the results do not depend on, has none."
          + " Where the function has none, as at a kink, what PyTorch's autograd says is right.";

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Suite forward;
  private final JsonNode record;

  /**
   * @param forward the suite whose tasks are differentiated
   */
  public BackwardSuite(Suite forward) {
    this.forward = forward;
    this.record = read(forward.root().resolve(RECORD));
  }

  /**
   * The suite whose gradients a name means: {@code kernelbenchx} of {@code kernelbenchx-backward}.
   * Empty if there is a suite of that name, or it does not end so.
   */
  public static Optional<String> of(String nameOrFolder, Path tasksHome) {
    if (!nameOrFolder.endsWith(SUFFIX) || Suites.found(nameOrFolder, tasksHome).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(nameOrFolder.substring(0, nameOrFolder.length() - SUFFIX.length()));
  }

  /**
   * The name of the suite of the gradients of a suite, which may be such a one itself.
   *
   * @param nameOrFolder as the user gave it
   */
  public static String name(String nameOrFolder) {
    String plain = nameOrFolder.replaceFirst("/+$", "");
    return plain.endsWith(SUFFIX) ? plain : plain + SUFFIX;
  }

  /**
   * Writes the suite's files below a folder, unless they are there, and reads those that are
   * wanted.
   *
   * @param asked the name as the user gave it
   * @param tasksHome kbx's own folder of suites
   * @param version of this program
   */
  public Suite open(
      String asked,
      Path folder,
      Path tasksHome,
      String version,
      Predicate<String> wanted,
      TaskCache cache,
      SyntaxCheck syntax)
      throws IOException {
    String id = DigestUtils.sha256Hex(forward.root() + forward.digest() + record + version);
    Path root = folder.resolve(id.substring(0, 12)).resolve(forward.name() + SUFFIX);
    Path whole = root.resolve(".whole");
    if (!Files.exists(whole)) {
      for (Task task : forward.tasks()) write(root, task);
      writePublished(root);
      AtomicFile.cache(whole, new byte[0]);
    }
    List<Suite.Lacking> without = new ArrayList<>();
    for (Task task : forward.tasks()) {
      why(task).ifPresent(why -> without.add(new Suite.Lacking(task, why)));
    }
    return Suites.read(asked, root, tasksHome, wanted, cache, syntax).lacking(without);
  }

  private static JsonNode read(Path file) {
    if (!Files.exists(file)) return MAPPER.createObjectNode();
    try {
      return MAPPER.readTree(Files.readString(file));
    } catch (IOException | JacksonException e) {
      throw new InvalidSuite(file + ": cannot be read (" + e.getMessage() + ")");
    }
  }

  /** Why a task has no gradient; empty if it has one, or nobody knows. */
  private Optional<String> why(Task task) {
    JsonNode said = record.path(task.path());
    return said.has("none")
        ? Optional.of(said.get("none").asString() + ": " + said.path("why").asString(""))
        : Optional.empty();
  }

  private void write(Path root, Task task) throws IOException {
    if (why(task).isPresent()) return;
    Path file = root.resolve(task.category()).resolve(task.name() + Gradients.SUFFIX + ".py");
    AtomicFile.cache(file, text(task).getBytes(StandardCharsets.UTF_8));
  }

  private String text(Task task) throws IOException {
    PythonSource source = PythonSource.parse(ByteOrderMark.read(task.file()));
    JsonNode known = record.path(task.path());
    String name = task.isModule() ? "Model" : task.entry();
    String statement =
        "%s%s `%s` computes:\n\n%s"
            .formatted(
                Gradients.statement(
                    "`%s` below".formatted(name), task.isModule(), texts(known, "of")),
                task.isModule() ? "" : FUNCTION,
                name,
                task.statement().strip());
    return """
    \"""%s
    \"""
    %s

    DERIVED_FROM = %s
    FORWARD = %s
    %s\
    """
        .formatted(
            OriginalText.escaped(statement),
            OwnTask.code(source).strip(),
            OriginalText.quoted(task.path()),
            OriginalText.quoted(name),
            task.isModule() ? "" : entry(task, texts(known, "upstream")));
  }

  /** The entry's name and definition, of which only the latter's parameters are read. */
  private static String entry(Task task, List<String> upstream) {
    List<String> given = upstream.isEmpty() ? List.of("grad_output") : upstream;
    return "ENTRY = %s\n\n\ndef %s: ...\n"
        .formatted(
            OriginalText.quoted(task.entry() + Gradients.SUFFIX),
            Gradients.signature(task.entry(), task.signature(), given, PLACES));
  }

  private static List<String> texts(JsonNode object, String name) {
    return object.path(name).valueStream().map(JsonNode::asString).toList();
  }

  /** What published tests pass to the forward, by the names of these tasks. */
  private void writePublished(Path root) throws IOException {
    JsonNode published = read(forward.root().resolve(PUBLISHED));
    ObjectNode renamed = MAPPER.createObjectNode();
    for (Task task : forward.tasks()) {
      if (!(published.path(task.path()) instanceof ObjectNode calls)) continue;
      ObjectNode kept = calls.deepCopy();
      for (String part : List.of("tensors", "options")) {
        if (kept.path(part) instanceof ObjectNode arguments) arguments.remove(PLACES);
      }
      renamed.set(task.path() + Gradients.SUFFIX, kept);
    }
    if (renamed.isEmpty()) return;
    AtomicFile.cache(root.resolve(PUBLISHED), MAPPER.writeValueAsBytes(renamed));
  }
}
