package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Experts;
import dev.kbx.app.FolderLock;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.Reason;
import dev.kbx.error.InputException;
import dev.kbx.prompt.Prompts;
import dev.kbx.prompt.Statement;
import dev.kbx.run.RememberingReferee;
import dev.kbx.server.KbxServer;
import dev.kbx.server.Listening;
import dev.kbx.server.Machine;
import dev.kbx.server.ServerLog;
import dev.kbx.server.TlsKeys;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.worker.ScratchFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx serve}: judges over HTTP until it is stopped. */
@Command(
    name = "serve",
    description = "Judge over HTTP: REST interface and web pages.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx serve",
      "  kbx serve --host 0.0.0.0 --store jdbc:postgresql://HOST/DATABASE",
      "",
      "What is accepted is in the store before it is answered: a new start with the",
      "same --out or --store goes on with what was not judged. Ctrl-C or SIGTERM",
      "ends it."
    })
final class ServeCommand implements Callable<Integer> {
  /** For what is being judged; the rest waits for the next start. */
  private static final Duration GRACE = Duration.ofSeconds(20);

  /** For workers and connections to end. */
  private static final Duration PARTING = Duration.ofSeconds(15);

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description =
          "Address to listen at. Default: ${DEFAULT-VALUE}. On any other than a loopback address"
              + " every request needs a token (kbx tokens create).")
  private String host = "127.0.0.1";

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8470",
      description = "Port; 0 for any free one. Default: ${DEFAULT-VALUE}.")
  private int port = 8470;

  @HelpSection.In(HelpSection.JUDGED)
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      split = ",",
      defaultValue = "kernelbenchx,kernelbench,serving",
      description =
          "Suites that candidates may be for, names or folders; the first is that of candidates"
              + " that name none. Default: ${DEFAULT-VALUE}.")
  private List<String> suites = List.of();

  @HelpSection.In(HelpSection.SPEED)
  @Option(
      names = "--baseline",
      paramLabel = "FILE",
      description =
          "File or folder of an expert's kernels, named as sources of kbx eval are: candidates are"
              + " timed beside that of their task, and the share of its speed is reported. Each"
              + " must be correct, which is judged before the server answers. May be given more"
              + " than once. Requests name the other baselines (plan.baseline).")
  private List<Path> baseline = List.of();

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--max-queue",
      paramLabel = "N",
      defaultValue = "50000",
      converter = Values.Count.class,
      description =
          "Candidates that may wait; one client may have half. Default: ${DEFAULT-VALUE}.")
  private int limit = 50_000;

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--require-tokens",
      description = "Refuse requests without a token on loopback, too.")
  private boolean requireTokens;

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Certificate chain in PEM; with --tls-key, for HTTPS.")
  private @Nullable Path certificates;

  @HelpSection.In(HelpSection.SERVICE)
  @Option(names = "--tls-key", paramLabel = "FILE", description = "Private key in PEM.")
  private @Nullable Path key;

  @HelpSection.In(HelpSection.SERVICE)
  @Option(
      names = "--log-json",
      description = "Write a line of JSON to stderr for each request, judgement and warning.")
  private boolean logJson;

  @Mixin private Options.Results results = new Options.Results();
  @Mixin private Options.Seed seed = new Options.Seed();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Override
  public Integer call() throws InterruptedException, IOException {
    Listening where = listening();
    if (logJson) ServerLog.json();
    workers.check();
    Map<String, Suite> served = served();
    Experts experts =
        Experts.read(
            Experts.existing(baseline, "requests choose that one (plan.baseline)"),
            served.values());
    StoreAddress address = results.folder().store();
    address.check();
    Path folder = results.folder().writable();
    try (StopSignal signal = new StopSignal(GRACE.plus(PARTING))) {
      try (var _ = FolderLock.of(folder);
          RunStore store = RunStore.open(address);
          RunStore reads = RunStore.open(address)) {
        store.claim(ServiceStore.CLAIM);
        store
            .notDurable()
            .ifPresent(why -> System.err.println("kbx: %s: %s".formatted(store.label(), why)));
        serve(where, store, reads, served, experts, signal);
      }
      System.err.println("kbx: stopped; what waits is judged after the next start");
    }
    return ExitCode.OK;
  }

  private void serve(
      Listening where,
      RunStore store,
      RunStore reads,
      Map<String, Suite> served,
      Experts experts,
      StopSignal signal)
      throws InterruptedException {
    try (JudgingPool pool = JudgingPool.start(workers.settings(cluster), served.values());
        KbxServer server = start(where, store, reads, machine(pool, store, served, experts));
        ServiceManager manager = ServiceManager.of(System.getenv())) {
      System.err.println(
          "kbx: serving %s (its interface is described at /docs)".formatted(server.url()));
      manager.ready(server::isAlive);
      signal.await();
      manager.stopping();
      server.drain(GRACE);
    }
  }

  private KbxServer start(Listening where, RunStore store, RunStore reads, Machine machine) {
    try {
      return KbxServer.start(where, store, reads, machine, limit, ScratchFolder.files());
    } catch (UncheckedIOException e) {
      throw cannotListen(requireNonNull(e.getCause()));
    }
  }

  private Listening listening() {
    if (port < 0 || port > 65_535)
      throw new InputException("--port %d: 0 to 65535".formatted(port));
    checkAddress();
    if (certificates == null && key == null) {
      return new Listening(host, port, requireTokens, Optional.empty());
    }
    if (certificates == null || key == null) {
      throw new InputException("--tls-cert and --tls-key: give both, or neither");
    }
    for (Path file : List.of(certificates, key)) {
      if (!Files.isReadable(file)) throw new InputException(file + ": cannot be read");
    }
    try {
      TlsKeys keys = TlsKeys.read(certificates, key);
      return new Listening(host, port, requireTokens, Optional.of(keys));
    } catch (IllegalArgumentException e) {
      throw new InputException(requireNonNull(e.getMessage()));
    }
  }

  /** Before workers start; the web server itself would log why, and go on without listening. */
  private void checkAddress() {
    try (ServerSocket trial = new ServerSocket()) {
      trial.setReuseAddress(true);
      trial.bind(new InetSocketAddress(InetAddress.getByName(host), port));
    } catch (UnknownHostException e) {
      throw new InputException("--host %s: no such address".formatted(host));
    } catch (IOException e) {
      throw cannotListen(e);
    }
  }

  private InputException cannotListen(IOException why) {
    return new InputException(
        "--host %s --port %d: cannot listen there: %s".formatted(host, port, Reason.of(why)), why);
  }

  private Map<String, Suite> served() {
    Map<String, Suite> served = new LinkedHashMap<>();
    for (String name : suites) {
      Suite suite = Home.here().suite(name);
      if (served.put(suite.name(), suite) != null) {
        throw new InputException("--suite: two suites are named " + suite.name());
      }
    }
    return served;
  }

  /** What judges, when it has found all kernels of experts correct. */
  private Machine machine(
      JudgingPool pool, RunStore store, Map<String, Suite> served, Experts experts)
      throws InterruptedException {
    Machine machine =
        new Machine(
            new RememberingReferee(pool.referee(), store),
            pool.device(),
            pool.versions(),
            seed.seed(),
            served,
            new Statement(Prompts.bundled(Home.here().folder())));
    if (experts.isEmpty()) return machine;
    experts.check(machine.referee(), machine.usualPlan());
    experts.untimed(pool.device()).ifPresent(Terminal::say);
    Map<String, Map<String, String>> sources = new HashMap<>();
    served.forEach((name, suite) -> sources.put(name, experts.sources(suite)));
    return machine.beside(sources);
  }

  /**
   * Ctrl-C and SIGTERM of a command that runs until it is stopped: the command is told, closes what
   * it has, says its last word, closes this, and the JVM exits with {@link ExitCode#OK}.
   */
  private static final class StopSignal implements AutoCloseable {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook;

    /**
     * @param patience maximum time that the command takes to close
     */
    StopSignal(Duration patience) {
      hook = new Thread(() -> stop(patience), "stop");
      Runtime.getRuntime().addShutdownHook(hook);
    }

    private void stop(Duration patience) {
      stopped.countDown();
      boolean clean = false;
      try {
        clean = closed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      System.err.flush();
      ScratchFolder.deleteAndHalt(clean ? ExitCode.OK : ExitCode.INCOMPLETE);
    }

    /** Waits for the signal. */
    void await() throws InterruptedException {
      stopped.await();
    }

    @Override
    public void close() {
      closed.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is shutting down and runs the hook.
      }
    }
  }
}
