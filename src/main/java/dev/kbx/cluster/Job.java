package dev.kbx.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** A request that some node has to answer: a candidate to judge, or a task to examine. */
final class Job {
  private final String task;
  private final Duration limit;
  private final IntFunction<NodeMessage.Request> request;
  private final CompletableFuture<NodeMessage.Answer> answer = new CompletableFuture<>();
  private final List<String> losses = new ArrayList<>();

  /**
   * @param task what nodes keep things for: references, baselines, compiled kernels
   * @param limit of one attempt; a slot that takes longer is taken for frozen
   * @param request makes the message for an attempt's id
   */
  Job(String task, Duration limit, IntFunction<NodeMessage.Request> request) {
    this.task = task;
    this.limit = limit;
    this.request = request;
  }

  String task() {
    return task;
  }

  Duration limit() {
    return limit;
  }

  NodeMessage.Request request(int id) {
    return request.apply(id);
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
}
