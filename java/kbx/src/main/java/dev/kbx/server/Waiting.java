package dev.kbx.server;

import dev.kbx.judge.WorkQueue;
import dev.kbx.store.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An accepted candidate that has no verdict yet. */
final class Waiting extends WorkQueue.Piece {
  private final Submission submission;
  private final long since;
  private final CompletableFuture<Submission> ended = new CompletableFuture<>();
  private volatile boolean judging;
  private volatile @Nullable Double waited;
  private int attempts;

  Waiting(Submission submission) {
    this.submission = submission.brief();
    // It may have been accepted before this process began.
    long age = Duration.between(submission.submitted(), Instant.now()).toNanos();
    this.since = System.nanoTime() - Math.max(0, age);
  }

  Submission submission() {
    return submission;
  }

  @Override
  protected int priority() {
    return submission.priority();
  }

  @Override
  protected String owner() {
    return submission.client();
  }

  @Override
  protected String group() {
    return submission.run();
  }

  /** Completes with what became of it. */
  CompletableFuture<Submission> ended() {
    return ended;
  }

  void begin() {
    waited = seconds();
    judging = true;
  }

  /** Has the candidate judged again later. */
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

  /** Counts a failure to judge it; used by one thread at a time. */
  int failed() {
    return ++attempts;
  }
}
