package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every piece is done once, and no failure goes unnoticed. */
@Timeout(Patience.SECONDS)
class DispatcherTest {
  private static final int WIDTH = 2;

  private final List<Integer> pieces = IntStream.range(0, 100).boxed().toList();

  @Test
  void eachPieceIsDoneOnce() throws Exception {
    Set<Integer> done = ConcurrentHashMap.newKeySet();
    Dispatcher.run(WIDTH, pieces, piece -> assertThat(done.add(piece)).isTrue());
    assertThat(done).hasSameSizeAs(pieces);
  }

  @Test
  void busyThreadDoesNotBlockOthers() throws Exception {
    CountDownLatch others = new CountDownLatch(pieces.size() - 1);
    Dispatcher.run(
        WIDTH,
        pieces,
        piece -> {
          if (piece == 0) others.await();
          else others.countDown();
        });
    assertThat(others.getCount()).isZero();
  }

  @Test
  void anExceptionIsThrown() {
    assertThatThrownBy(() ->
            Dispatcher.run(
                WIDTH,
                pieces,
                piece -> {
                  if (piece == 7) throw new IllegalStateException("seven");
                }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("seven");
  }

  @Test
  void anErrorIsThrown() {
    assertThatThrownBy(() ->
            Dispatcher.run(
                WIDTH,
                pieces,
                piece -> {
                  if (piece == 7) throw new StackOverflowError("seven");
                }))
        .isInstanceOf(StackOverflowError.class);
  }

  @Test
  void interruptWaitsForTheThreads() {
    AtomicBoolean parted = new AtomicBoolean();
    Thread caller = Thread.currentThread();
    assertThatThrownBy(() ->
            Dispatcher.run(
                WIDTH,
                List.of(1),
                _ -> {
                  caller.interrupt();
                  try {
                    new CountDownLatch(1).await();
                  } finally {
                    parted.set(true);
                  }
                }))
        .isInstanceOf(InterruptedException.class);
    assertThat(parted).isTrue();
  }

  @Test
  void submitWaitsForAFreeThread() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (Dispatcher dispatcher = new Dispatcher(WIDTH)) {
      Thread submitting =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  for (int i = 0; i < 20; i++) {
                    boolean _ =
                        dispatcher.submit(() -> {
                          most.accumulateAndGet(running.incrementAndGet(), Math::max);
                          blocked.await();
                          running.decrementAndGet();
                        });
                  }
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      while (running.get() < WIDTH) Thread.onSpinWait();
      assertThat(submitting.join(Duration.ofMillis(50))).isFalse();
      blocked.countDown();
      submitting.join();
      dispatcher.finish();
    }
    assertThat(most).hasValue(WIDTH);
  }

  @Test
  void failureFinishesRunningPiecesAndBeginsNoMore() throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    AtomicBoolean finished = new AtomicBoolean();
    try (Dispatcher dispatcher = new Dispatcher(WIDTH)) {
      boolean _ =
          dispatcher.submit(() -> {
            failed.await();
            finished.set(true);
          });
      boolean _ =
          dispatcher.submit(() -> {
            throw new IllegalStateException("first");
          });
      while (!dispatcher.failed()) Thread.onSpinWait();
      assertThat(dispatcher.submit(() -> finished.set(false))).isFalse();
      failed.countDown();
      assertThatThrownBy(dispatcher::finish).hasMessage("first");
    }
    assertThat(finished).isTrue();
  }

  @Test
  void closeInterruptsRunningPiecesAndWaits() throws Exception {
    AtomicBoolean parted = new AtomicBoolean();
    try (Dispatcher dispatcher = new Dispatcher(WIDTH)) {
      boolean _ =
          dispatcher.submit(() -> {
            try {
              new CountDownLatch(1).await();
            } finally {
              parted.set(true);
            }
          });
    }
    assertThat(parted).isTrue();
  }
}
