package dev.kbx.analysis;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Why candidates failed, collected beside their rows as verdicts are read. Of all messages of one
 * shape only one is kept.
 */
public final class Causes {
  /**
   * Messages of one shape.
   *
   * @param status of the candidates
   * @param shape as {@link MessageShape} gives it
   * @param example the first of the messages
   * @param task of the candidate that has it
   * @param source of the candidate that has it
   */
  record Message(Status status, String shape, String example, String task, String source) {}

  /** Why one candidate failed. */
  record Cause(Stage stage, @Nullable String rule, @Nullable Message message) {}

  private record Key(Status status, String shape) {}

  private final Map<Key, Message> messages = new HashMap<>();
  private final Map<Cause, Cause> shared = new HashMap<>();
  private final IdentityHashMap<VerdictRow, Cause> causes = new IdentityHashMap<>();

  /** Adds a verdict that has been read; those of correct candidates are ignored. */
  public void add(VerdictRow row, BriefVerdict verdict) {
    if (row.correct()) return;
    Cause cause = new Cause(verdict.stage(), verdict.rule(), message(row, verdict.message()));
    causes.put(row, shared.computeIfAbsent(cause, same -> same));
  }

  private @Nullable Message message(VerdictRow row, @Nullable String text) {
    if (text == null || text.isBlank()) return null;
    String shape = MessageShape.of(text);
    return messages.computeIfAbsent(
        new Key(row.status(), shape),
        key -> new Message(row.status(), key.shape(), text, row.path(), row.source()));
  }

  /** The cause of a row that was added. */
  Cause of(VerdictRow row) {
    return Objects.requireNonNull(causes.get(row), "a failed row without its verdict");
  }
}
