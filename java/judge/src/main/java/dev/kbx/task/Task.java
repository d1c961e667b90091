package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.CodeSize;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * One task of a suite.
 *
 * @param suite name of the suite: {@code kernelbenchx}, {@code kernelbench}
 * @param category the task's folder: KernelBench-X's category, KernelBench's level
 * @param name the file's name without {@code .py}
 * @param entry what a candidate must define; see {@link #entries}
 * @param signature the reference's {@code def} line as in {@code gelu(input: torch.Tensor,
 *     approximate: str = 'none') -> torch.Tensor}; of a module {@code ModelNew(alpha: float =
 *     1.0).forward(x)}
 * @param extra a dtype variant, not a published task
 * @param statement what a candidate must compute, Markdown
 * @param reference Python source of the reference and of what it needs
 * @param operations PyTorch functions that the reference calls, by full name
 * @param size of the reference; null where its source is not in the suite
 * @param file the task file
 * @param sizes those that its file states, in {@code dtype}; null if nobody has looked, as for a
 *     task whose sizes are in another file
 */
public record Task(
    String suite,
    String category,
    String name,
    String entry,
    String signature,
    @Nullable Integer difficulty,
    @Nullable String dtype,
    List<String> tags,
    boolean extra,
    String statement,
    String reference,
    List<String> operations,
    @Nullable CodeSize size,
    Path file,
    @Nullable Sizes sizes) {

  /** The candidate's class in place of a task's {@code Model}. */
  public static final String MODULE = "ModelNew";

  /** Tag of the task of a user's own reference, and its category. */
  public static final String OWN = "own";

  /** Tag of the task of an imported definition, whose calls are its workloads. */
  public static final String DEFINITION = "definition";

  /** Tag of tasks whose reference and tests come from a checkout of the original. */
  private static final String IMPORTED = "imported";

  private static final Pattern REFERENCE =
      Pattern.compile(
          "(?:ref|reference|torch|pytorch|naive|eager)_(\\w+)|(\\w+)_(?:ref|reference|torch|pytorch|naive|eager)");

  /** The entry that KernelBench-X accepts for every task. */
  public static final String COMMON_ENTRY = "kernel_function";

  public Task {
    tags = List.copyOf(tags);
    operations = List.copyOf(operations);
  }

  /** Whether candidates are modules, not functions. */
  public boolean isModule() {
    return entry.equals(MODULE);
  }

  /** Whether the reference is a user's own, not a suite's. */
  public boolean isOwn() {
    return tags.contains(OWN);
  }

  /** Whether its reference and tests are those of a benchmark's original. */
  public boolean isImported() {
    return tags.contains(IMPORTED);
  }

  /** Whether the reference is that of an imported definition. */
  public boolean isDefinition() {
    return tags.contains(DEFINITION);
  }

  /** Whether C++ of the candidate's own may compute the result, as its Triton kernels may. */
  public boolean takesCpp() {
    return isModule() || isOwn();
  }

  /** Whether the published task has a result that hardly depends on its input. */
  public boolean isDegenerate() {
    return tags.contains("degenerate");
  }

  /** Names that a candidate's entry may have, best first. */
  public List<String> entries() {
    if (isModule()) return List.of(entry);
    Stream<String> own = isOwn() ? ownName().stream() : Stream.empty();
    return Stream.of(Stream.of(entry), own, Stream.of(COMMON_ENTRY))
        .flatMap(names -> names)
        .distinct()
        .toList();
  }

  /** What a candidate calls that which a user's reference calls {@code softmax_ref}. */
  private Optional<String> ownName() {
    if (entry.equals("ref_kernel")) return Optional.of("custom_kernel");
    Matcher marked = REFERENCE.matcher(entry);
    if (!marked.matches()) return Optional.empty();
    return Optional.of(marked.group(1) != null ? marked.group(1) : marked.group(2));
  }

  /** {@code Category/name}. */
  public String path() {
    return category + "/" + name;
  }

  /** Path of the honest kernel of this task, which may not exist: a control, and an example. */
  public Path kernel() {
    return file.resolveSibling("kernels").resolve(name + ".py");
  }

  /**
   * The honest kernels that there are: {@link #kernel}, and a simpler one under {@code simple/}.
   */
  public List<Path> kernels() {
    Path simple = kernel().resolveSibling("simple").resolve(name + ".py");
    return Stream.of(kernel(), simple).filter(Files::exists).toList();
  }

  /**
   * SHA-256, in hexadecimal digits, of the file's bytes, those of what was recorded of published
   * tests, and, for an imported task, its original's; {@code unreadable} if one of them is.
   */
  public String digest() {
    try {
      String own = DigestUtils.sha256Hex(Files.readAllBytes(file));
      Optional<Path> record = PublishedCalls.file(this);
      if (record.isPresent()) own += DigestUtils.sha256Hex(Files.readAllBytes(record.get()));
      Optional<Path> original = original();
      if (original.isEmpty()) return record.isEmpty() ? own : DigestUtils.sha256Hex(own);
      byte[] named = OriginalText.bytes(original.get());
      return DigestUtils.sha256Hex(own + DigestUtils.sha256Hex(named));
    } catch (IOException | InvalidPathException e) {
      return "unreadable"; // The oracle reports the error.
    }
  }

  /**
   * What the task's files hold, as {@link #digest} says, if nothing else decides what they compute.
   * Empty if their code may read other things, so that what follows from it may be another next
   * time.
   */
  public Optional<String> contents() {
    return reads().isEmpty() ? Optional.of(digest()) : Optional.empty();
  }

  /**
   * Where the code of the task's files may read something else than these files, as in {@code
   * my_ref.py:3: load}; empty if it does not.
   */
  public Optional<String> reads() {
    try {
      PythonSource own = PythonSource.parse(ByteOrderMark.read(file));
      Optional<Path> original = original();
      if (original.isEmpty()) return OpenCode.in(own, _ -> false).map(place -> named(file, place));
      Path other = original.get().toAbsolutePath();
      PythonSource source = PythonSource.parse(OriginalText.read(other).text());
      // What the file of a user's own reference imports is in its task file.
      Map<Path, String> imported = isOwn() ? ImportedFiles.of(other, source) : Map.of();
      for (Path each : imported.keySet()) {
        PythonSource text = PythonSource.parse(OriginalText.read(each).text());
        Optional<String> open = OpenCode.in(text, name -> isBeside(other, name));
        if (open.isPresent()) return open.map(place -> named(each, place));
      }
      return OpenCode.in(source, name -> isOwn() && isBeside(other, name))
          .map(place -> named(other, place));
    } catch (IOException | InvalidPathException | InvalidSuite e) {
      return Optional.empty(); // The oracle reports the error.
    }
  }

  private static String named(Path file, String place) {
    return file + ":" + place;
  }

  private static boolean isBeside(Path file, String module) {
    return Files.isRegularFile(file.resolveSibling(module + ".py"))
        || Files.isDirectory(file.resolveSibling(module));
  }

  /**
   * The file that the task's reference lies in, if that is not the task's own.
   *
   * @throws IOException if the task's file cannot be read
   */
  public Optional<Path> original() throws IOException {
    return OriginalText.named(Files.readString(file)).map(Path::of);
  }

  /** This task, read from another file. */
  Task in(Path other) {
    return with(dtype, tags, other, sizes);
  }

  /** This task, about another dtype. */
  public Task cast(String to) {
    return with(to, tags, file, null);
  }

  /** This task with one more tag. */
  public Task tagged(String tag) {
    return with(dtype, Stream.concat(tags.stream(), Stream.of(tag)).toList(), file, sizes);
  }

  /** This task with these sizes. */
  Task sized(@Nullable Sizes found) {
    return with(dtype, tags, file, found);
  }

  private Task with(
      @Nullable String otherDtype,
      List<String> otherTags,
      Path otherFile,
      @Nullable Sizes otherSizes) {
    return new Task(
        suite,
        category,
        name,
        entry,
        signature,
        difficulty,
        otherDtype,
        otherTags,
        extra,
        statement,
        reference,
        operations,
        size,
        otherFile,
        otherSizes);
  }
}
