package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Reading;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The later rounds of {@code kbx eval --watch}: whenever a source has changed, all are judged again
 * by the same workers, and a line says what came of each that changed.
 */
final class Watch {
  private final List<Path> sources;
  private final Supplier<Reading> reader;
  private final Round round;

  /** Judges what was read, as a run of its own. */
  interface Round {
    Collection<Verdict> judge(Reading reading) throws InterruptedException;
  }

  /**
   * @param reader reads the sources; throws {@link UserError} where they cannot be judged
   */
  Watch(List<Path> sources, Supplier<Reading> reader, Round round) {
    this.sources = sources;
    this.reader = reader;
    this.round = round;
  }

  /**
   * Goes on until the thread is interrupted.
   *
   * @param first the verdicts of the first round
   */
  void run(Collection<Verdict> first) throws InterruptedException {
    Map<String, Verdict> before = bySource(first);
    try (SourceChanges changes = SourceChanges.of(sources)) {
      WorkerPool.say("watching for changes; Ctrl-C ends");
      while (true) {
        before = next(before);
        changes.await();
      }
    } catch (IOException e) {
      throw new UserError("--watch: the sources cannot be watched: " + Reason.of(e), e);
    }
  }

  /** Judges the sources if one of them is another than before. */
  private Map<String, Verdict> next(Map<String, Verdict> before) throws InterruptedException {
    Reading reading;
    try {
      reading = reader.get();
    } catch (UserError e) {
      WorkerPool.say(requireNonNull(e.getMessage())); // The next save may mend it.
      return before;
    }
    List<String> changed =
        reading.candidates().stream()
            .filter(candidate -> !isKnown(candidate, before))
            .map(Candidate::origin)
            .toList();
    if (changed.isEmpty()) return before;
    Map<String, Verdict> now = bySource(round.judge(reading));
    LocalTime time = LocalTime.now(ZoneId.systemDefault());
    for (String source : changed) {
      System.out.println(WatchText.line(time, before.get(source), requireNonNull(now.get(source))));
    }
    System.out.flush();
    return now;
  }

  private static boolean isKnown(Candidate candidate, Map<String, Verdict> before) {
    Verdict verdict = before.get(candidate.origin());
    return verdict != null && verdict.provenance().candidate().equals(candidate.hash());
  }

  private static Map<String, Verdict> bySource(Collection<Verdict> verdicts) {
    return verdicts.stream()
        .collect(Collectors.toMap(v -> v.provenance().source(), Function.identity()));
  }
}
