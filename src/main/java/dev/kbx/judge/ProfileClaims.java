package dev.kbx.judge;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.verdict.Profile;
import dev.kbx.worker.RunnerMessage;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Validates a profile that a runner claims: drops values that could not have been measured. */
final class ProfileClaims {
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
