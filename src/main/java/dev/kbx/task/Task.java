package dev.kbx.task;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One task of a suite.
 *
 * @param suite name of the suite, {@code kernelbenchx}
 * @param category folder the task lies in: KernelBench-X's category
 * @param name the file's name without {@code .py}
 * @param entry the function a candidate must define ({@code kernel_function} is accepted as well)
 * @param signature the reference's {@code def} line as in {@code gelu(input: torch.Tensor,
 *     approximate: str = 'none') -> torch.Tensor}
 * @param extra a dtype variant beside the published set
 * @param statement what a candidate must compute, Markdown
 * @param reference Python source of the reference and all it needs
 * @param operations PyTorch functions that the reference calls, by full name
 * @param file the task file
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
    Path file) {

  /** The entry that KernelBench-X accepts for every task. */
  public static final String COMMON_ENTRY = "kernel_function";

  public Task {
    tags = List.copyOf(tags);
    operations = List.copyOf(operations);
  }

  /** {@code Category/name}. */
  public String path() {
    return category + "/" + name;
  }

  /** Where an honest kernel of this task lies if there is one: a control, and an example. */
  public Path kernel() {
    return file.resolveSibling("kernels").resolve(name + ".py");
  }

  /** The same task with one more tag. */
  public Task tagged(String tag) {
    List<String> more = Stream.concat(tags.stream(), Stream.of(tag)).toList();
    return new Task(
        suite,
        category,
        name,
        entry,
        signature,
        difficulty,
        dtype,
        more,
        extra,
        statement,
        reference,
        operations,
        file);
  }
}
