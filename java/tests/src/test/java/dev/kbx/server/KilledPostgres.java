package dev.kbx.server;

import dev.kbx.FreePort;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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

  /** SIGKILL of the process that all others of it end with. */
  void kill() throws IOException {
    long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).getFirst());
    ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
    var others = postmaster.children().toList();
    postmaster.destroyForcibly();
    postmaster.onExit().join();
    others.forEach(each -> each.onExit().join());
  }

  /** SIGSTOP of all of its processes, or SIGCONT: meanwhile it is there and does not answer. */
  void freeze(boolean frozen) throws IOException, InterruptedException {
    long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).getFirst());
    ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
    List<String> command = new ArrayList<>(List.of("kill", frozen ? "-STOP" : "-CONT"));
    command.add(Long.toString(pid));
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
