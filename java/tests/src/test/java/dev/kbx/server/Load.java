package dev.kbx.server;

import dev.kbx.verdict.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Clients that submit and wait for verdicts, and readers of pages beside them. They go on when the
 * server is away: a submission is sent again under its key until it is accepted.
 */
final class Load {
  private static final int READERS = 8;
  private static final String UPLOADS = "uploads";

  /** Bytes beside the kernel, so that an archive takes a while to unpack. */
  private static final int BALLAST = 1 << 20;

  private static final Duration READ_EVERY = Duration.ofMillis(100);

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  /** Apart from that of the clients: what readers wait for is the server, not this process. */
  private final HttpClient reading = HttpClient.newHttpClient();

  private final Supplier<String> url;
  private final List<String> tokens;
  private final int candidates;
  private final Duration pause;
  private final int uploadEach;
  private final Queue<String> uploaded = new ConcurrentLinkedQueue<>();
  private final Queue<String> ids = new ConcurrentLinkedQueue<>();
  private final Map<String, Queue<Long>> reads = new ConcurrentSkipListMap<>();
  private final Queue<String> surprises = new ConcurrentLinkedQueue<>();
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger judged = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable String run;

  /**
   * @param tokens one for each client
   * @param candidates of all clients, each in a request of its own
   */
  Load(String url, List<String> tokens, int candidates) {
    this(() -> url, tokens, candidates, Duration.ZERO, Integer.MAX_VALUE);
  }

  /**
   * @param url of the server to ask next, which may be another one each time
   * @param pause of a client between two candidates
   * @param uploadEach so many candidates one is uploaded as an archive
   */
  Load(Supplier<String> url, List<String> tokens, int candidates, Duration pause, int uploadEach) {
    this.url = url;
    this.tokens = List.copyOf(tokens);
    this.candidates = candidates;
    this.pause = pause;
    this.uploadEach = uploadEach;
  }

  /**
   * What was seen.
   *
   * @param ids of accepted candidates
   * @param uploaded of these, those of archives: one may be accepted twice, as it has no key
   * @param reads seconds of each read, ascending, by what was read
   * @param surprises answers that no client should get
   */
  record Seen(
      double seconds,
      List<String> ids,
      List<String> uploaded,
      Map<String, List<Double>> reads,
      List<String> surprises) {
    List<Double> allReads() {
      return reads.values().stream().flatMap(List::stream).sorted().toList();
    }

    static double quantile(List<Double> times, double quantile) {
      return times.get((int) Math.min(times.size() - 1, Math.floor(quantile * times.size())));
    }
  }

  int judged() {
    return judged.get();
  }

  /** Nothing more is submitted; what was, is waited for. */
  void end() {
    next.set(candidates);
  }

  /** Submits all and returns when all have a verdict. */
  Seen run() throws InterruptedException {
    long start = System.nanoTime();
    List<Thread> clients =
        tokens.stream().map(token -> Thread.startVirtualThread(() -> submitAll(token))).toList();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      String token = tokens.get(i % tokens.size());
      readers.add(Thread.ofPlatform().start(() -> readAll(token)));
    }
    for (Thread client : clients) client.join();
    double seconds = (System.nanoTime() - start) / 1e9;
    over.set(true);
    for (Thread reader : readers) reader.join();
    Map<String, List<Double>> times = new TreeMap<>();
    reads.forEach(
        (what, nanos) -> times.put(what, nanos.stream().map(each -> each / 1e9).sorted().toList()));
    return new Seen(
        seconds, List.copyOf(ids), List.copyOf(uploaded), times, List.copyOf(surprises));
  }

  private void submitAll(String token) {
    try {
      for (int number = next.getAndIncrement();
          number < candidates;
          number = next.getAndIncrement()) {
        boolean archive = number % uploadEach == uploadEach - 1;
        JsonNode judgement = archive ? upload(token, number) : submit(token, number);
        String id = judgement.path("id").asString();
        ids.add(id);
        if (archive) uploaded.add(id);
        while (!judgement.path("state").asString("").equals("done")) {
          if (!List.of("queued", "judging").contains(judgement.path("state").asString(""))) {
            surprises.add(judgement.toString());
            return;
          }
          judgement = json(token, "/v1/judgements/" + id + "?wait=30");
        }
        judged.incrementAndGet();
        Thread.sleep(pause);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private JsonNode submit(String token, int number) throws InterruptedException {
    byte[] body =
        Json.mapper()
            .writeValueAsBytes(
                Map.of(
                    "task",
                    "Activation/relu",
                    "code",
                    source(number),
                    "key",
                    Integer.toString(number)));
    JsonNode answer =
        json(() ->
            to("/v1/judgements?wait=20", token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    run = answer.path("run").asString();
    return answer.path("judgements").path(0);
  }

  /** Into a run of its own: what was accepted twice is in none that is counted. */
  private JsonNode upload(String token, int number) throws InterruptedException {
    byte[] archive = archive(source(number));
    return json(() ->
            to("/v1/uploads?wait=20&run=" + UPLOADS, token)
                .header("Content-Type", "application/zip")
                .POST(HttpRequest.BodyPublishers.ofByteArray(archive)))
        .path("judgements")
        .path(0);
  }

  private static byte[] archive(String source) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry("Activation/relu.py"));
      zip.write(source.getBytes(StandardCharsets.UTF_8));
      zip.putNextEntry(new ZipEntry("notes/ballast.bin"));
      zip.write(new byte[BALLAST]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** About as long as a kernel. */
  static String source(int number) {
    return "import torch\n\n# %s\n\ndef relu(x):\n    return torch.relu(x) + %d\n"
        .formatted("x".repeat(1_500), number);
  }

  private HttpRequest.Builder to(String path, String token) {
    return HttpRequest.newBuilder(URI.create(url.get() + path))
        .timeout(Duration.ofSeconds(60))
        .header("Authorization", "Bearer " + token);
  }

  private JsonNode json(String token, String path) throws InterruptedException {
    return json(() -> to(path, token));
  }

  /** Until it is answered. */
  private JsonNode json(Supplier<HttpRequest.Builder> request) throws InterruptedException {
    while (true) {
      try {
        HttpResponse<String> response =
            http.send(request.get().build(), HttpResponse.BodyHandlers.ofString());
        switch (response.statusCode()) {
          case 200, 202 -> {
            return Json.mapper().readTree(response.body());
          }
          case 429, 503 -> TimeUnit.MILLISECONDS.sleep(200);
          default -> {
            surprises.add(response.statusCode() + " " + response.body());
            TimeUnit.MILLISECONDS.sleep(200);
          }
        }
      } catch (IOException e) {
        TimeUnit.MILLISECONDS.sleep(50); // The server is away.
      }
    }
  }

  private void readAll(String token) {
    int number = 0;
    try {
      while (!over.get()) {
        read(token, number++);
        Thread.sleep(READ_EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read(String token, int number) throws InterruptedException {
    String known = run;
    if (known == null) return;
    String id = ids.isEmpty() ? "" : ids.peek();
    List<String> paths =
        List.of(
            "/v1/queue",
            "/v1/runs/" + known,
            "/v1/judgements/" + id,
            "/v1/runs/" + known + "/verdicts?limit=20",
            "/runs/" + known,
            "/health/ready");
    String path = paths.get(number % paths.size());
    if (path.endsWith("/")) return;
    long start = System.nanoTime();
    try {
      HttpResponse<String> response =
          reading.send(to(path, token).build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() == 200) {
        String what = path.replace(known, "RUN").replace("/judgements/" + id, "/judgements/ID");
        reads
            .computeIfAbsent(what, _ -> new ConcurrentLinkedQueue<>())
            .add(System.nanoTime() - start);
      } else if (response.statusCode() != 503) surprises.add(path + " " + response.statusCode());
    } catch (IOException e) {
      // The server is away.
    }
  }
}
