package dev.kbx.cli;

import dev.kbx.app.WorkerSource;
import dev.kbx.worker.ScratchFolder;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Runs, in one JVM, commands that together load most of what others do: the launcher records them
 * for the cache of starts (JEP 514). None needs Python.
 */
final class Training {
  private static final List<String> ANALYSES =
      List.of("summary", "deviance", "efficiency", "errors", "methods", "quality");

  private Training() {}

  /** Ends the JVM with the {@link ExitCode} of the first command that fails. */
  public static void main(String[] args) throws IOException {
    String sources = args[0];
    String out = args[1];
    run("eval", sources, "--stages", "static", "--seed", "start", "--out", out, "--json");
    for (String analysis : ANALYSES) run("analyze", analysis, "--out", out);
    run("analyze", "passk", out);
    haveDaemonRun("eval", sources);
    ScratchFolder.delete();
    System.exit(ExitCode.OK);
  }

  private static void run(String... command) {
    int exit = Main.run(WorkerSource.NEW, command);
    if (exit != ExitCode.OK) System.exit(exit);
  }

  /**
   * Does what a process does that has its command run by a {@link Daemon}. This one only says that
   * the command has ended. Its socket is in the folder that the launcher names.
   */
  private static void haveDaemonRun(String... command) throws IOException {
    Optional<Path> folder = DaemonTerms.folder();
    if (folder.isEmpty()) return; // Its name is too long for a socket.
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(folder.get().resolve(Daemon.SOCKET)));
      Thread.ofPlatform().daemon().start(() -> endAtOnce(server));
      OptionalInt _ = DaemonClient.run(command);
    }
  }

  private static void endAtOnce(ServerSocketChannel server) {
    try (DaemonChannel command = new DaemonChannel(server.accept())) {
      List<String> _ = command.readTexts(); // Its terms.
      command.write(DaemonChannel.ACCEPTS);
      List<String> _ = command.readTexts(); // Its arguments.
      List<String> _ = command.readTexts(); // Its properties.
      command.stream(DaemonChannel.ERR).write(new byte[0]);
      command.writeExit(ExitCode.OK);
    } catch (IOException e) {
      // No daemon may run commands here, as where there is a GPU.
    }
  }
}
