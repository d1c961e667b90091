package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
class GroupCommitTest {
  /** Two writes come while one commits; together they fail, and one of them alone by an error. */
  @Test
  void failedWriteIsReportedAndOthersAreCommitted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch come = new CountDownLatch(1);
    GroupCommit commits = new GroupCommit(work -> work.accept(null));
    FutureTask<Void> first =
        write(
            commits,
            () -> {
              begun.countDown();
              come.await();
            });
    begun.await();
    List<FutureTask<Void>> others = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      boolean[] again = {false};
      others.add(
          write(
              commits,
              () -> {
                if (again[0]) throw new AssertionError("a fault");
                again[0] = true;
                throw new IllegalStateException("not together");
              }));
    }
    Thread.sleep(100); // They wait.
    come.countDown();
    var _ = first.get();
    for (FutureTask<Void> each : others) assertThatThrownBy(each::get).isNotNull();
    boolean[] done = {false};
    commits.write(_ -> done[0] = true);
    assertThat(done[0]).isTrue();
  }

  /** Three writes come while one commits; alone, each would wait for the store anew. */
  @Test
  void unreachableStoreIsAskedOnceForAGroup() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch come = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    GroupCommit commits =
        new GroupCommit(work -> {
          if (asked.getAndIncrement() > 0) throw new StoreProblem("the store", "does not answer");
          work.accept(null);
        });
    FutureTask<Void> first =
        write(
            commits,
            () -> {
              begun.countDown();
              come.await();
            });
    begun.await();
    List<FutureTask<Void>> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) others.add(write(commits, () -> {}));
    Thread.sleep(100); // They wait.
    come.countDown();
    var _ = first.get();
    for (FutureTask<Void> each : others) {
      assertThatThrownBy(each::get).hasRootCauseInstanceOf(StoreProblem.class);
    }
    assertThat(asked).hasValue(2);
  }

  private interface Work {
    void run() throws Exception;
  }

  private static FutureTask<Void> write(GroupCommit commits, Work work) {
    FutureTask<Void> task =
        new FutureTask<>(() -> {
          commits.write(_ -> {
            try {
              work.run();
            } catch (RuntimeException | Error e) {
              throw e;
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          });
          return null;
        });
    var _ = Thread.startVirtualThread(task);
    return task;
  }
}
