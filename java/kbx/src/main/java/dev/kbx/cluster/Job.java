package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.judge.Binaries;
import dev.kbx.judge.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A request that some node has to answer: a candidate to judge, which a node without a GPU may
 * compile before, or a task to examine.
 */
final class Job extends WorkQueue.Piece {
  private final String task;
  private final Duration limit;
  private final Judging judging;
  private @Nullable IntFunction<NodeMessage.Request> compiling;
  private @Nullable Binaries compiled;
  private final CompletableFuture<NodeMessage.Answer> answer = new CompletableFuture<>();
  private final List<String> losses = new ArrayList<>();

  /** Makes the message of an attempt to judge. */
  interface Judging {
    /**
     * The message.
     *
     * @param id of the attempt
     * @param compiled by another node; null if none has
     */
    NodeMessage.Request request(int id, @Nullable Binaries compiled);
  }

  /**
   * @param task what nodes keep things for: references, baselines, compiled kernels
   * @param limit of one attempt; a slot that takes longer is taken for frozen
   * @param compiling makes the message of an attempt to compile, from its id; null if there is
   *     nothing to compile
   */
  Job(
      String task,
      Duration limit,
      Judging judging,
      @Nullable IntFunction<NodeMessage.Request> compiling) {
    this.task = task;
    this.limit = limit;
    this.judging = judging;
    this.compiling = compiling;
  }

  /** A job with nothing to compile. */
  Job(String task, Duration limit, IntFunction<NodeMessage.Request> request) {
    this(task, limit, (id, _) -> request.apply(id), null);
  }

  String task() {
    return task;
  }

  Duration limit() {
    return limit;
  }

  /**
   * The message of an attempt other than to compile.
   *
   * @param binaries that another node compiled; null if none has
   */
  NodeMessage.Request request(int id, @Nullable Binaries binaries) {
    return judging.request(id, binaries);
  }

  /** Whether it is to be compiled, and that was not tried. */
  boolean compilable() {
    return compiling != null;
  }

  /** What makes the message to compile it, once. */
  IntFunction<NodeMessage.Request> takeCompiling() {
    IntFunction<NodeMessage.Request> once = requireNonNull(compiling);
    compiling = null;
    return once;
  }

  /** Keeps what was compiled, for whoever judges. */
  void compiled(@Nullable Binaries binaries) {
    compiled = binaries;
  }

  /** What was compiled, once: it can be large, and after a lost attempt it is compiled anew. */
  @Nullable Binaries takeCompiled() {
    Binaries once = compiled;
    compiled = null;
    return once;
  }

  /** Completes with the first answer, or exceptionally with {@link Abandoned}. */
  CompletableFuture<NodeMessage.Answer> answer() {
    return answer;
  }

  /** Records why an attempt has no answer. */
  void lost(String how) {
    losses.add(how);
  }

  /** How its attempts ended, in order. */
  List<String> losses() {
    return losses;
  }

  /** A job is not tried again: its attempts were lost. The message tells how. */
  static final class Abandoned extends Exception {
    private static final long serialVersionUID = 1;

    Abandoned(String message) {
      super(message);
    }
  }
}
