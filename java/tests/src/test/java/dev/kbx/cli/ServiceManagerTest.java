package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A listener at a real socket of the kind that systemd has stands for it. */
@Timeout(Patience.SECONDS)
class ServiceManagerTest {
  private static final String LISTENER =
      """
      import os, socket, sys
      name = sys.argv[1]
      s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      s.bind("\\0" + name[1:] if name.startswith("@") else name)
      print("listening", flush=True)
      while True:
          print(s.recv(4096).decode(), flush=True)
      """;

  @TempDir private Path folder;
  private String name = "";
  private Process listener;
  private BufferedReader heard;

  @BeforeEach
  void listen() throws IOException {
    listen(folder.resolve("notify").toString());
  }

  private void listen(String at) throws IOException {
    name = at;
    listener = new ProcessBuilder(List.of("python3", "-c", LISTENER, name)).start();
    heard = listener.inputReader();
    assertThat(heard.readLine()).isEqualTo("listening");
  }

  @AfterEach
  void stop() throws InterruptedException {
    var _ = listener.destroyForcibly().waitFor();
  }

  private ServiceManager manager(String... more) {
    return ServiceManager.of(
        more.length == 0
            ? Map.of("NOTIFY_SOCKET", name)
            : Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", more[0]));
  }

  @Test
  void systemdIsNotifiedOfReadyAndStop() throws Exception {
    needBothHeard();
  }

  private void needBothHeard() throws Exception {
    try (ServiceManager manager = manager()) {
      manager.ready(() -> true);
      assertThat(heard.readLine()).isEqualTo("READY=1");
      manager.stopping();
      assertThat(heard.readLine()).isEqualTo("STOPPING=1");
    }
  }

  @Test
  void abstractSocketIsNotified() throws Exception {
    stop();
    listen("@kbx-test-" + ProcessHandle.current().pid());
    needBothHeard();
  }

  @Test
  void watchdogIsNotifiedOnlyWhileTheServiceIsAlive() throws Exception {
    AtomicBoolean alive = new AtomicBoolean(true);
    try (ServiceManager manager = manager("20000")) {
      manager.ready(alive::get);
      assertThat(heard.readLine()).isEqualTo("READY=1");
      for (int i = 0; i < 3; i++) assertThat(heard.readLine()).isEqualTo("WATCHDOG=1");
      alive.set(false);
      Thread.sleep(200); // What was on its way has come.
      while (heard.ready()) assertThat(heard.readLine()).isEqualTo("WATCHDOG=1");
      Thread.sleep(200);
      assertThat(heard.ready()).isFalse();
    }
  }

  @Test
  void missingSocketIsIgnored() throws Exception {
    stop();
    try (ServiceManager manager = manager();
        ServiceManager without = ServiceManager.of(Map.of())) {
      manager.ready(() -> true);
      without.ready(() -> true);
      without.stopping();
    }
  }
}
