package dev.kbx.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Writes of several threads in one transaction: who comes while one commits is in the next. A
 * commit waits for the disk, so that judging would otherwise wait as often as there are verdicts.
 *
 * <p>A thread of its own commits: who waits for it may be interrupted, which would close the
 * connection under the writes of others.
 */
final class GroupCommit {
  private static final int MOST = 256;

  /** Makes one transaction. */
  interface Transactions {
    void run(Consumer<Handle> work);
  }

  private static final class Write {
    final Consumer<Handle> work;
    final CompletableFuture<@Nullable RuntimeException> done = new CompletableFuture<>();

    Write(Consumer<Handle> work) {
      this.work = work;
    }
  }

  private final Transactions transactions;
  private final Queue<Write> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean committing = new AtomicBoolean();

  GroupCommit(Transactions transactions) {
    this.transactions = transactions;
  }

  /** Returns when the write is committed; throws what it threw, and has then written nothing. */
  void write(Consumer<Handle> work) {
    Write mine = new Write(work);
    waiting.add(mine);
    if (committing.compareAndSet(false, true)) start();
    RuntimeException failure = mine.done.join();
    if (failure != null) throw failure;
  }

  private void start() {
    try {
      Thread.startVirtualThread(this::commitAll);
    } catch (Throwable e) {
      committing.set(false);
      throw e;
    }
  }

  private void commitAll() {
    do {
      while (!waiting.isEmpty()) commitNext();
      committing.set(false);
      // Who came before that may have found this thread at work.
    } while (!waiting.isEmpty() && committing.compareAndSet(false, true));
  }

  private void commitNext() {
    List<Write> group = new ArrayList<>();
    for (Write next; group.size() < MOST && (next = waiting.poll()) != null; ) group.add(next);
    try {
      transactions.run(handle -> group.forEach(write -> write.work.accept(handle)));
      group.forEach(write -> write.done.complete(null));
    } catch (RuntimeException e) {
      // One of them failed, and with it all: alone, the others succeed. Of a store that is away
      // each would find that out anew.
      boolean ofOne = !(e instanceof StoreProblem problem) || problem.refused();
      if (ofOne && group.size() > 1) group.forEach(this::commitAlone);
      else group.forEach(write -> fail(write, e));
    } catch (Throwable e) { // Whatever it is, somebody waits for an answer.
      group.forEach(write -> fail(write, new IllegalStateException(e)));
    }
  }

  private void commitAlone(Write write) {
    try {
      transactions.run(write.work);
      write.done.complete(null);
    } catch (RuntimeException e) {
      fail(write, e);
    } catch (Throwable e) {
      fail(write, new IllegalStateException(e));
    }
  }

  private static void fail(Write write, RuntimeException e) {
    write.done.complete(e);
  }
}
