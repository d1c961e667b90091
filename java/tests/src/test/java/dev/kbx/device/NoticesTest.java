package dev.kbx.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.judge.FakeWorkers;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the zygote has to say to the user while it starts. */
class NoticesTest {
  @TempDir private Path folder;
  private final List<String> notices = new CopyOnWriteArrayList<>();

  private void start(String line) throws Exception {
    try (Workers workers = FakeWorkers.writing(folder, line, notices::add)) {
      assertThat(workers.zygote().alive()).isTrue();
    }
  }

  @Test
  void noticeIsPassedOn() throws Exception {
    start("notice: building a library");
    await()
        .atMost(Patience.LIMIT)
        .untilAsserted(() -> assertThat(notices).containsExactly("building a library"));
  }

  @Test
  void otherOutputIsNotPassedOn() throws Exception {
    start("a warning of torch");
    assertThat(notices).isEmpty();
  }
}
