package dev.kbx.cluster;

import dev.kbx.syntax.CodeSize;
import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A task on its way to a node.
 *
 * @param file place of its file on every node, as {@link Shipment} names it; the rest is as in
 *     {@link Task}
 */
record TaskMessage(
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
    String file) {

  static TaskMessage of(Task task, String file) {
    return new TaskMessage(
        task.suite(),
        task.category(),
        task.name(),
        task.entry(),
        task.signature(),
        task.difficulty(),
        task.dtype(),
        task.tags(),
        task.extra(),
        task.statement(),
        task.reference(),
        task.operations(),
        task.size(),
        file);
  }

  /**
   * The task on the node.
   *
   * @param places finds its file there
   */
  Task task(Function<String, Path> places) {
    return new Task(
        suite,
        category,
        name,
        entry,
        signature,
        difficulty,
        dtype,
        tags,
        extra,
        statement,
        reference,
        operations,
        size,
        places.apply(file),
        null);
  }
}
