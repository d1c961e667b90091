package dev.kbx.published;

import dev.kbx.candidate.Extraction;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Sessions;
import dev.kbx.task.Task;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Session folders of KernelAgent. {@code success} says whether a kernel passed the test that the
 * agent wrote itself: in the file of its round, and for the last kernel in {@code result.json}.
 */
final class SessionReader implements PublishedReader {
  private static final String METHOD = "kernelagent";

  private final Found found;

  SessionReader(Found found) {
    this.found = found;
  }

  @Override
  public void read(Path path) {
    if (!Files.isDirectory(path)) {
      found.absent(path, Files.exists(path) ? "is not a folder of sessions" : "does not exist");
      return;
    }
    List<Path> sessions = Sessions.in(path);
    if (sessions.isEmpty()) {
      found.absent(path, "has no session of KernelAgent: a folder with problem.txt and workers/");
    }
    sessions.forEach(this::session);
  }

  private void session(Path session) {
    Task task =
        found.task(
            found.names().ofSession(session, Sessions.problem(session)), session.toString(), null);
    List<Sessions.Kernel> kernels = Sessions.kernels(session, this::tell);
    for (Sessions.Kernel kernel : kernels) {
      found.count();
      if (task != null) keep(session, task, kernel);
    }
  }

  private void tell(Problem problem) {
    found.count();
    found.unusable(problem.file(), problem.line(), problem.message());
  }

  private void keep(Path session, Task task, Sessions.Kernel kernel) {
    boolean last = kernel.round() == null;
    JsonNode stated = JsonFiles.document(last ? session.resolve("result.json") : kernel.file());
    ObjectNode record =
        stated != null && stated.isObject()
            ? Fields.without(stated, "kernel_code")
            : JsonNodeFactory.instance.objectNode();
    String code = Extraction.published(kernel.code(), task);
    found.keep(
        new Found.Kept(
            task.category(),
            task.name(),
            kernel.file().toString(),
            found.given().method() == null ? METHOD : found.given().method(),
            found.model(null),
            kernel.round(),
            kernel.sample(),
            code.isBlank() ? null : code,
            outcome(record),
            null,
            record));
  }

  private static @Nullable PublishedOutcome outcome(JsonNode record) {
    Boolean success = Fields.flag(record, "success");
    if (success == null) return null;
    return success
        ? PublishedOutcome.correct(false, null)
        : PublishedOutcome.failed(Fields.message(record, "stderr"));
  }
}
