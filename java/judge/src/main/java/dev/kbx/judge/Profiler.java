package dev.kbx.judge;

import static java.util.Objects.requireNonNullElse;

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
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
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

  /** Validates a profile that a runner claims: drops values that could not have been measured. */
  private static final class ProfileClaims {
    private static final int MOST_KERNELS = 5;
    private static final int MOST_LAUNCHES = 1_000;
    private static final int MOST_REGISTERS = 1_024;
    private static final int LONGEST_NAME = 200;
    private static final int LONGEST_FAILURE = 400;

    /** A minute; a longer kernel would not have been profiled in time. */
    private static final double LONGEST_MS = 60_000;

    /** Counters of one figure are read in several passes, so it may slightly exceed 100. */
    private static final double MOST_PERCENT = 102;

    private static final Pattern REASON = Pattern.compile("[a-z0-9_]{1,40}");
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\\s]+");

    private ProfileClaims() {}

    /** Converts an answer to a profile. */
    static Profile of(@Nullable String shape, RunnerMessage.Profiled said) {
      List<Profile.Kernel> kernels =
          said.kernels() == null
              ? List.of()
              : said.kernels().stream()
                  .map(ProfileClaims::kernel)
                  .filter(Objects::nonNull)
                  .limit(MOST_KERNELS)
                  .toList();
      return kernels.isEmpty()
          ? failed(requireNonNullElse(said.failure(), "its process gave no figures"))
          : new Profile(shape, kernels, null);
    }

    /** A profile without figures; the reason may come from a candidate. */
    static Profile failed(@Nullable String why) {
      String line = UNPRINTABLE.matcher(requireNonNullElse(why, "")).replaceAll(" ").strip();
      return Profile.failed(line.isEmpty() ? "for no known reason" : cut(line, LONGEST_FAILURE));
    }

    private static Profile.@Nullable Kernel kernel(RunnerMessage.ProfiledKernel said) {
      Double duration = within(said.durationMs(), 0, LONGEST_MS);
      if (duration == null) return null;
      Double share = within(said.stallPct(), 0, 100);
      String stall = said.stall();
      boolean stalls = stall != null && REASON.matcher(stall).matches();
      return new Profile.Kernel(
          cut(UNPRINTABLE.matcher(said.kernel()).replaceAll(" "), LONGEST_NAME),
          requireNonNullElse(within(said.launches(), MOST_LAUNCHES), 1),
          duration,
          within(said.registers(), MOST_REGISTERS),
          percent(said.achievedOccupancyPct()),
          percent(said.theoreticalOccupancyPct()),
          percent(said.dramPct()),
          percent(said.smPct()),
          stalls ? stall : null,
          stalls ? share : null);
    }

    private static @Nullable Double percent(@Nullable Double claimed) {
      return within(claimed, 0, MOST_PERCENT);
    }

    private static @Nullable Double within(@Nullable Double claimed, double least, double most) {
      return claimed != null && claimed >= least && claimed <= most ? claimed : null;
    }

    private static @Nullable Integer within(@Nullable Integer claimed, int most) {
      return claimed != null && claimed >= 1 && claimed <= most ? claimed : null;
    }

    private static String cut(String text, int most) {
      return text.length() > most ? text.substring(0, most) + "…" : text;
    }
  }
}
