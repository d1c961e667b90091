package dev.kbx.server;

import dev.kbx.store.Submission;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An accepted candidate that has no verdict yet. */
final class Waiting {
  private final Submission submission;
  private final long since = System.nanoTime();
  private final CompletableFuture<Submission> ended = new CompletableFuture<>();
  private volatile boolean judging;
  private volatile @Nullable Double waited;

  Waiting(Submission submission) {
    this.submission = submission;
  }

  Submission submission() {
    return submission;
  }

  /** Completes with what became of it. */
  CompletableFuture<Submission> ended() {
    return ended;
  }

  void begin() {
    waited = seconds();
    judging = true;
  }

  /** It is judged again later. */
  void requeue() {
    judging = false;
  }

  boolean judging() {
    return judging;
  }

  /** Seconds from acceptance to judging, or to now. */
  double seconds() {
    Double known = waited;
    return known != null ? known : (System.nanoTime() - since) / 1e9;
  }
}
