package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.Gpu;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs Nsight Compute on candidates on one GPU, which the caller must hold exclusively.
 *
 * <p>Whether this machine can be profiled is tested once, with a kernel of kbx's own, so that no
 * candidate can make it look impossible for the others. A runner's answer is a claim. A failure
 * becomes a line in the profile and has no other effect.
 */
final class Profiler {
  /** Time limit for Nsight Compute, which replays each launch about a dozen times. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Additional time for the runner. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  /**
   * Profiler and program are separate processes with torch and a CUDA context or threads of their
   * own. Device memory that does not fit a replay's backup is saved on the host.
   */
  private static final Zygote.Allowance ALLOWANCE =
      new Zygote.Allowance(8L << 30, 600, 1024, 1L << 30);

  private static final String PROBE =
      """
      def probe(x):
          return x + 1
      """;

  private static final long PROBED = 1 << 20;

  /** A machine that is slow to start may be faster for the next candidate. */
  private static final int MOST_TRIES = 2;

  private final Gpu gpu;
  private int tries;
  private @Nullable String unable;

  Profiler(Gpu gpu) {
    this.gpu = gpu;
  }

  /**
   * Profiles a candidate at its task's largest benchmark size.
   *
   * @param files binaries that were compiled ahead
   */
  Profile of(Candidate candidate, Plan plan, Map<String, String> files)
      throws InterruptedException {
    try {
      String why = unable(plan.arch());
      if (why != null) return Profile.failed(why);
      OracleMessage.LargestShapesTraced size = largest(candidate, plan);
      return run(size.shape(), plan.arch(), candidate.code(), size.entries(), files, size.call());
    } catch (Oracle.Refused e) {
      return ProfileClaims.failed(e.answer().message());
    } catch (RuntimeException e) { // The verdict is decided: no failure of kbx may change it.
      return ProfileClaims.failed("kbx failed here: " + e.getMessage());
    }
  }

  /**
   * Why nothing can be profiled on this device; null if it can. Reported to the user when first
   * found.
   */
  private @Nullable String unable(String arch) throws InterruptedException {
    if (tries == 0 || (unable != null && tries < MOST_TRIES)) {
      unable = run(null, arch, PROBE, List.of("probe"), Map.of(), probe()).failure();
      if (unable != null && tries == 0) {
        gpu.notice("nothing is profiled: " + unable + "; see Profile in docs/gpu.md");
      }
      tries++;
    }
    return unable;
  }

  private static JsonNode probe() {
    JsonNodeFactory json = JsonNodeFactory.instance;
    ObjectNode tensor = json.objectNode().put("t", "tensor").put("dtype", "float32");
    tensor.set("shape", json.arrayNode().add(PROBED));
    tensor.set("stride", json.arrayNode().add(1));
    ObjectNode call = json.objectNode();
    call.set("args", json.arrayNode().add(tensor));
    call.set("kwargs", json.objectNode());
    return call;
  }

  private OracleMessage.LargestShapesTraced largest(Candidate candidate, Plan plan)
      throws InterruptedException, Oracle.Refused {
    String file = candidate.task().file().toAbsolutePath().toString();
    return gpu.oracle()
        .ask(
            OracleMessage.LargestShapesTraced.class,
            id -> new OracleMessage.TraceLargestShapes(id, file, plan.precision().dtype()),
            Limits.ORACLE);
  }

  private Profile run(
      @Nullable String shape,
      String arch,
      String source,
      List<String> entries,
      Map<String, String> files,
      JsonNode call)
      throws InterruptedException {
    Runner runner = gpu.runnerWithLoopback(arch, ALLOWANCE);
    try {
      Message answer =
          runner.ask(
              RunnerMessage.Profiled.class,
              id -> new RunnerMessage.Profile(id, source, entries, files, call, LIMIT.toSeconds()),
              LIMIT.plus(GRACE));
      return switch (answer) {
        case RunnerMessage.Profiled profiled -> ProfileClaims.of(shape, profiled);
        case RunnerMessage.Raised raised -> ProfileClaims.failed(raised.message());
        default -> throw new IllegalStateException("a runner answers profiled or raised");
      };
    } catch (TimeoutException e) {
      return ProfileClaims.failed("its process did not answer in time");
    } catch (Runner.Lost e) {
      return ProfileClaims.failed(Outcome.lost(e, Stage.PERF).message());
    } finally {
      end(runner);
    }
  }

  /** The next user of the device must not share it with this process. */
  private static void end(Runner runner) throws InterruptedException {
    try {
      var _ = runner.end();
    } catch (WorkerFailure e) {
      System.getLogger("kbx").log(System.Logger.Level.DEBUG, "a runner did not end", e);
    }
  }
}
