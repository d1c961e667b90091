package dev.kbx.cli;

import dev.kbx.server.KbxServer;
import dev.kbx.server.Listening;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kbx serve}: judges over HTTP until it is stopped. */
@Command(
    name = "serve",
    description = "Judge over HTTP: REST interface and web pages.",
    mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
  private static final Duration GRACE = Duration.ofSeconds(30);

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description = "Address to listen at. Default: ${DEFAULT-VALUE}.")
  private String host = "127.0.0.1";

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8470",
      description = "Port; 0 for any free one. Default: ${DEFAULT-VALUE}.")
  private int port = 8470;

  @Override
  public Integer call() throws InterruptedException {
    try (StopSignal signal = new StopSignal(GRACE);
        KbxServer server = KbxServer.start(new Listening(host, port))) {
      System.err.println("kbx: serving %s (docs at /docs)".formatted(server.url()));
      signal.await();
    }
    return ExitCode.OK;
  }
}
