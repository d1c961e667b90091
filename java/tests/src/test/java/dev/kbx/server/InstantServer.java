package dev.kbx.server;

import dev.kbx.Bundled;
import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.ScratchFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;
import tools.jackson.databind.node.ObjectNode;

/**
 * A process that serves as {@code kbx serve} does, but finds at once what candidates say of
 * themselves: what is left is what the service itself costs. It is on the classpath of tests alone,
 * so that no user can get a verdict from it.
 */
final class InstantServer {
  private static final Duration GRACE = Duration.ofSeconds(20);

  private InstantServer() {}

  /** The variable with the name of the device. */
  static final String DEVICE = "KBX_TEST_DEVICE";

  /** The variable with the milliseconds that a judgement takes at most. */
  static final String MILLIS = "KBX_TEST_MILLIS";

  /** The variable with the number of candidates that are judged at a time. */
  static final String SLOTS = "KBX_TEST_SLOTS";

  /**
   * What a source says of itself in a comment, as {@code # simulated: wrong_values}, or {@code #
   * simulated: correct 2.5} with the lower end of its speedup; without it is correct.
   */
  private static final Pattern SAID = Pattern.compile("# simulated: (\\w+)(?: ([\\d.]+))?");

  /** The variable that says that it has a worker, which writes until the server has ended. */
  static final String WORKER = "KBX_TEST_WORKER";

  /** Arguments: store, port, whether tokens are needed, candidates that may wait. */
  public static void main(String... arguments) throws Exception {
    StoreAddress address = address(arguments[0]);
    Verdict.Device device =
        new Verdict.Device("cpu", variable(DEVICE, "simulated"), null, null, "sm_90");
    Thread main = Thread.currentThread();
    Path files = ScratchFolder.files();
    Optional<Process> worker =
        variable(WORKER, "").isEmpty()
            ? Optional.empty()
            : Optional.of(worker(files.resolveSibling("workers")));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(main, worker)));
    try (RunStore store = RunStore.open(address);
        RunStore reads = RunStore.open(address)) {
      store.claim(ServiceStore.CLAIM);
      Machine machine =
          new Machine(
              new Instant(
                  store,
                  device,
                  Integer.parseInt(variable(MILLIS, "0")),
                  Integer.parseInt(variable(SLOTS, "8"))),
              device,
              Map.of("kbx", "test"),
              "secret",
              Map.of("kernelbenchx", Suites.open("kernelbenchx", Path.of("tasks"))),
              Bundled.STATEMENT);
      Listening where =
          new Listening(
              "127.0.0.1",
              Integer.parseInt(arguments[1]),
              Boolean.parseBoolean(arguments[2]),
              Optional.empty());
      int limit = Integer.parseInt(arguments[3]);
      try (KbxServer server = KbxServer.start(where, store, reads, machine, limit, files)) {
        System.out.println(server.url());
        try {
          Thread.sleep(Duration.ofDays(1));
        } catch (InterruptedException e) {
          server.drain(GRACE);
        }
      }
    }
  }

  private static String variable(String name, String usual) {
    return System.getenv().getOrDefault(name, usual);
  }

  /** As real ones do it has not ended at once when its server is killed. */
  private static Process worker(Path folder) throws IOException {
    String script =
        """
        last=0 i=0
        while [ $last -lt 20 ]; do
          kill -0 $1 2> /dev/null || last=$((last + 1))
          i=$(((i + 1) % 50))
          mkdir $2/$i; echo $i > $2/$i/file
          sleep 0.05
        done 2> /dev/null
        """;
    String server = Long.toString(ProcessHandle.current().pid());
    return new ProcessBuilder("sh", "-c", script, "worker", server, folder.toString()).start();
  }

  private static void end(Thread main, Optional<Process> worker) {
    main.interrupt();
    try {
      main.join();
      if (worker.isPresent()) {
        var _ = worker.get().destroyForcibly().waitFor();
      }
      ScratchFolder.delete();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static StoreAddress address(String text) {
    return text.startsWith("jdbc:") ? StoreAddress.of(text) : StoreAddress.of(Path.of(text));
  }

  /** Remembers what it judged, as the real one does. */
  private record Instant(RunStore store, Verdict.Device device, int most, int capacity)
      implements Referee {
    /**
     * @param millis that it took
     */
    private Judgement found(String code, long millis) {
      Matcher said = SAID.matcher(code);
      boolean told = said.find();
      String status = told ? said.group(1) : "correct";
      ObjectNode node =
          (ObjectNode)
              Json.mapper()
                  .readTree(
                      """
                      {"stage": "correct", "call_ok": true, "grade": "published", "flags": [],
                       "policy": "kernel",
                       "device": {"kind": "cpu", "name": "%s"},
                       "versions": {"kbx": "0.25.0", "python": "3.12.3", "torch": "2.11.0", "triton": "3.6.0"},
                       "seconds": {"static": 0.004, "call": 0.31, "correct": 0.22}}
                      """
                          .formatted(device.name()));
      node.put("status", status).put("exe_ok", status.equals("correct"));
      if (most > 0) node.putObject("seconds").put("call", millis / 1e3);
      if (told && said.group(2) != null) {
        double low = Double.parseDouble(said.group(2));
        node.putObject("speedup")
            .put("value", 1.1 * low)
            .put("low", low)
            .put("high", 1.2 * low)
            .put("baseline", "eager");
      }
      return Json.mapper().treeToValue(node, Judgement.class);
    }

    @Override
    public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
      return find(candidate, plan).judgement();
    }

    @Override
    public Found find(Candidate candidate, Plan plan) throws InterruptedException {
      long millis = most > 0 ? ThreadLocalRandom.current().nextInt(most) : 0;
      Thread.sleep(millis);
      String key = DigestUtils.sha256Hex(candidate.task().path() + candidate.hash() + device);
      Optional<Judgement> known = store.remembered(List.of(key), _ -> true);
      if (known.isPresent()) return new Found(known.get(), true);
      Judgement found = found(candidate.code(), millis);
      store.remember(key, candidate.hash(), found);
      return new Found(found, false);
    }

    @Override
    public void expect(Plan plan, int candidates) {}
  }
}
