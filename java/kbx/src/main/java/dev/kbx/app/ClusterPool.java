package dev.kbx.app;

import dev.kbx.cluster.ClusterReferee;
import dev.kbx.cluster.Shipment;
import dev.kbx.error.InputException;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.python.RayEnvironment;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.PeakRates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/** The nodes of a Ray cluster as what a command judges with. */
public final class ClusterPool implements JudgingPool {
  private static final Pattern PLACE =
      Pattern.compile("(ray://)?\\[?(?<host>[^/]+?)\\]?:(?<port>\\d{1,5})");

  private static final String AUTO = "auto";

  private static final int PATIENCE_MS = 5_000;

  private final ClusterReferee referee;
  private final JudgingConditions first;
  private final Observer observer;

  private ClusterPool(ClusterReferee referee, JudgingConditions first, Observer observer) {
    this.observer = observer;
    this.referee = referee;
    this.first = first;
  }

  /** Connects, ships kbx and the suites, and waits for the first node that can judge. */
  static ClusterPool start(
      JudgingSettings settings, JudgingSettings.Cluster cluster, Collection<Suite> suites)
      throws InterruptedException {
    ClusterReferee referee = connect(settings, cluster, suites);
    try {
      return new ClusterPool(referee, referee.first(), settings.observer());
    } catch (InterruptedException | RuntimeException e) {
      referee.close();
      throw e;
    }
  }

  /** Connects without waiting. */
  public static ClusterReferee connect(
      JudgingSettings settings, JudgingSettings.Cluster cluster, Collection<Suite> suites)
      throws InterruptedException {
    checkReachable(cluster.address());
    Home home = settings.home();
    Observer observer = settings.observer();
    Path python =
        RayEnvironment.resolve(System.getenv(), home.folder(), observer.installing()).executable();
    ClusterReferee.Settings nodes =
        new ClusterReferee.Settings(
            cluster.address(),
            settings.device(),
            settings.jobs(),
            cluster.deviceClass(),
            cluster.slots(),
            node());
    try {
      Path archives = Files.createDirectories(home.state().resolve("cluster/suites"));
      Shipment shipment =
          node().isEmpty()
              ? ClusterBundle.shipment(home, observer)
              : Shipment.ofSuites(home.folder());
      for (Suite suite : suites) shipment.add(suite.root(), suite.tasks(), archives);
      return ClusterReferee.connect(python, home.folder(), nodes, shipment, observer::note);
    } catch (IOException e) {
      throw new InputException("--cluster: cannot pack what the nodes need: " + Reason.of(e), e);
    }
  }

  /**
   * Before Ray is installed and a bundle is made: Ray itself waits for minutes and says nothing.
   */
  private static void checkReachable(String address) {
    Matcher place = PLACE.matcher(address);
    if (!place.matches()) {
      if (AUTO.equals(address)) return;
      throw new InputException(
          "--cluster %s: is not an address; give ray://HOST:PORT, HOST:PORT, or auto"
              .formatted(address));
    }
    int port = Integer.parseInt(place.group("port"));
    if (port > 65_535) throw new InputException("--cluster %s: no such port".formatted(address));
    try (Socket socket = new Socket()) {
      InetAddress host = InetAddress.getByName(place.group("host"));
      socket.connect(new InetSocketAddress(host, port), PATIENCE_MS);
    } catch (UnknownHostException e) {
      throw new InputException("--cluster %s: no host of that name".formatted(address));
    } catch (IOException e) {
      throw new InputException("--cluster %s: nothing answers there".formatted(address));
    }
  }

  /** What nodes run in place of the bundle: a simulated node of tests and benchmarks. */
  private static List<String> node() {
    String simulated = System.getProperty("kbx.cluster.node", "");
    return simulated.isEmpty() ? List.of() : List.of(simulated.split(";", -1));
  }

  @Override
  public JudgingReferee referee() {
    return referee;
  }

  @Override
  public TaskReferee tasks(Plan plan) throws InterruptedException {
    return referee.tasks(plan);
  }

  /** Without what differs between devices of one model. */
  @Override
  public Verdict.Device device() {
    Verdict.Device device = first.device();
    return new Verdict.Device(device.kind(), device.name(), null, null, device.arch());
  }

  @Override
  public Map<String, String> versions() {
    return first.versions();
  }

  /** A prompt names peaks that were measured where kbx runs: those of the nodes stay there. */
  @Override
  public MeasuredPeaks peaks() {
    return MeasuredPeaks.of(PeakRates.UNKNOWN.copyGbs(), Map.of());
  }

  @Override
  public Observer observer() {
    return observer;
  }

  @Override
  public String described() {
    return referee.described();
  }

  @Override
  public void close() {
    referee.close();
  }

  /**
   * The bundle that a cluster's nodes run, made once for each state of this kbx and kept in {@code
   * .kbx/cluster}.
   */
  private static final class ClusterBundle {
    private static final List<String> SOURCES =
        List.of("target/kbx.jar", "runtime/release", "app/kbx.jar", "kbx", "worker/kbx", "tasks");

    private static final int DIGITS = 12;

    private ClusterBundle() {}

    static Shipment shipment(Home kbx, Observer observer) throws IOException, InterruptedException {
      Path home = kbx.folder();
      Bundle bundle = new Bundle(home, Home.version(), observer::note);
      Path folder = kbx.state().resolve("cluster").resolve(fingerprint(home));
      Path archive = folder.resolve(bundle.name() + ".tar.gz");
      if (!Files.exists(archive)) {
        observer.note("making the bundle for the nodes (once)");
        Path draft = Files.createTempDirectory(Files.createDirectories(folder), ".draft");
        Path made =
            Files.isDirectory(home.resolve("runtime"))
                ? bundle.repack(draft)
                : bundle.makeQuickly(draft);
        Files.move(made, archive);
        Files.delete(draft);
      }
      return new Shipment(home, archive, bundle.name());
    }

    /** Changes with whatever is in a bundle and matters to judging. */
    private static String fingerprint(Path home) throws IOException {
      MessageDigest digest = DigestUtils.getSha256Digest();
      for (String source : SOURCES) {
        Path path = home.resolve(source);
        if (!Files.exists(path)) continue;
        try (Stream<Path> files = Files.walk(path)) {
          for (Path file : files.filter(ClusterBundle::counts).sorted().toList()) {
            digest.update(home.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
            digest.update(Files.readAllBytes(file));
          }
        } catch (UncheckedIOException e) {
          throw e.getCause();
        }
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
    }

    private static boolean counts(Path file) {
      return Files.isRegularFile(file) && !file.toString().contains("__pycache__");
    }
  }
}
