package dev.kbx.server;

import dev.kbx.FreePort;
import dev.kbx.Patience;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A PostgreSQL server that can be killed and started again; a commit is on disk. */
final class KilledPostgres implements AutoCloseable {
  private final Path data;
  private final int port;
  private EmbeddedPostgres server;

  /**
   * @param folder new, for its data
   */
  KilledPostgres(Path folder) throws IOException {
    this.data = folder;
    this.port = FreePort.find();
    this.server = begin();
  }

  private EmbeddedPostgres begin() throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setPort(port)
        .setServerConfig("synchronous_commit", "on")
        .setPGStartupWait(Duration.ofMinutes(2))
        .start();
  }

  int port() {
    return port;
  }

  /** Address of its database for a store. */
  String url() {
    return server.getJdbcUrl("postgres", "postgres");
  }

  /** SIGKILL of all of its processes. */
  void kill() throws IOException {
    ProcessHandle postmaster = postmaster();
    List<ProcessHandle> processes = new ArrayList<>(List.of(postmaster));
    processes.addAll(postmaster.children().toList());
    processes.forEach(ProcessHandle::destroyForcibly);
    for (ProcessHandle each : processes) {
      each.onExit().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }
  }

  private ProcessHandle postmaster() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).getFirst();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  /** SIGSTOP of all of its processes, or SIGCONT: meanwhile it is there and does not answer. */
  void freeze(boolean frozen) throws IOException, InterruptedException {
    ProcessHandle postmaster = postmaster();
    List<String> command = new ArrayList<>(List.of("kill", frozen ? "-STOP" : "-CONT"));
    command.add(Long.toString(postmaster.pid()));
    postmaster.children().forEach(each -> command.add(Long.toString(each.pid())));
    int _ = new ProcessBuilder(command).start().waitFor();
  }

  /** The next start, which recovers what was committed. */
  void startAgain() throws IOException {
    server.close(); // It has a lock on the folder.
    server = begin();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
