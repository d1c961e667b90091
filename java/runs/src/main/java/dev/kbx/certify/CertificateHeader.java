package dev.kbx.certify;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The first line of a certificate.
 *
 * @param certificate version of the format
 * @param certified when it was made
 * @param kbx version that made it
 * @param run with the fingerprints of the judge in {@code versions}, and in {@code settings} the
 *     commitment to the seeds: a hash of their text
 * @param tasks fingerprint of each task with a verdict, as it was when this was made
 * @param verdicts how many lines follow
 * @param correct how many of them are correct
 * @param timed how many have times, and {@code withRounds} how many of these have their rounds
 * @param sources whether the sources are here
 */
public record CertificateHeader(
    int certificate,
    Instant certified,
    String kbx,
    RunInfo run,
    Map<String, String> tasks,
    int verdicts,
    int correct,
    int timed,
    int withRounds,
    boolean sources) {
  static final int VERSION = 1;

  /** The header of a new certificate. */
  public static CertificateHeader of(
      String kbx, RunInfo run, Map<String, String> tasks, Counts counts, boolean sources) {
    return new CertificateHeader(
        VERSION,
        Instant.now(),
        kbx,
        run,
        tasks,
        counts.verdicts(),
        counts.correct(),
        counts.timed(),
        counts.withRounds(),
        sources);
  }

  /** Counts of verdicts; as in the header. */
  public record Counts(int verdicts, int correct, int timed, int withRounds) {
    public static final Counts NONE = new Counts(0, 0, 0, 0);

    /** The judge in words. */
    String described() {
      return "%d verdicts, %d correct, %d timed, %d with the rounds of all sizes"
          .formatted(verdicts, correct, timed, withRounds);
    }

    /** With one more verdict. */
    public Counts and(Verdict verdict) {
      List<SizeTiming> sizes = verdict.judgement().sizes();
      return and(
          verdict,
          sizes != null && !sizes.isEmpty() && sizes.stream().allMatch(s -> s.raw() != null));
    }

    Counts and(Verdict verdict, boolean hasRounds) {
      List<SizeTiming> sizes = verdict.judgement().sizes();
      boolean isTimed = sizes != null && !sizes.isEmpty();
      return new Counts(
          verdicts + 1,
          correct + (verdict.judgement().status() == Status.CORRECT ? 1 : 0),
          timed + (isTimed ? 1 : 0),
          withRounds + (hasRounds ? 1 : 0));
    }
  }
}
