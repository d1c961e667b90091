package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every piece is done once, and no failure goes unnoticed. */
@Timeout(Patience.SECONDS)
class DispatcherTest {
  private static final int WIDTH = 2;

  private final List<Integer> pieces = IntStream.range(0, 100).boxed().toList();

  @Test
  void everyPieceIsDoneOnce() throws Exception {
    Set<Integer> done = ConcurrentHashMap.newKeySet();
    Dispatcher.run(WIDTH, pieces, piece -> assertThat(done.add(piece)).isTrue());
    assertThat(done).hasSameSizeAs(pieces);
  }

  @Test
  void aBusyThreadKeepsNothingFromTheOther() throws Exception {
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
  void anInterruptWaitsForTheThreads() {
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
}
