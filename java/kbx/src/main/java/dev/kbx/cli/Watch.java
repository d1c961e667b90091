package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Evaluation;
import dev.kbx.app.Reason;
import dev.kbx.app.RunPlan;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Reading;
import dev.kbx.document.Text;
import dev.kbx.error.InputException;
import dev.kbx.report.Table;
import dev.kbx.task.OwnReference;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The later rounds of {@code kbx eval --watch}: whenever a source or the reference has changed, all
 * are judged again by the same workers, and a line says what came of each that changed, or of each
 * by another reference.
 */
final class Watch {
  private final List<Path> sources;
  private final Asked asked;
  private Evaluation evaluation;

  /** Whether the reference is another than that of the last round. */
  private boolean byAnother;

  /** By what candidates are judged. */
  interface Asked {
    /**
     * The plan with the reference as it now is; empty if that is as it was.
     *
     * @throws InputException if it cannot be used
     */
    Optional<RunPlan> again(RunPlan before) throws InterruptedException;
  }

  Watch(List<Path> sources, Evaluation evaluation, Asked asked) {
    this.sources = sources;
    this.evaluation = evaluation;
    this.asked = asked;
  }

  /**
   * Goes on until the thread is interrupted.
   *
   * @param first the verdicts of the first round
   */
  void run(Collection<Verdict> first) throws InterruptedException {
    Map<String, Verdict> before = bySource(first);
    Terminal.say("watching for changes; Ctrl-C ends");
    while (true) {
      // Before the files are read: a change while they are judged is another round.
      try (SourceChanges changes = SourceChanges.of(files())) {
        before = next(before);
        changes.await();
      } catch (IOException e) {
        throw new InputException("--watch: the sources cannot be watched: " + Reason.of(e), e);
      }
    }
  }

  /** The sources, and the files of a user's own reference. */
  private List<Path> files() {
    OwnReference reference = evaluation.asked().suite().reference();
    if (reference == null) return sources;
    return Stream.concat(sources.stream(), reference.files().stream()).toList();
  }

  /** Judges the sources if one of them, or the reference, is another than before. */
  private Map<String, Verdict> next(Map<String, Verdict> before) throws InterruptedException {
    Reading reading;
    try {
      byAnother |= readsAnotherReference();
      reading = evaluation.reread();
    } catch (InputException e) {
      Terminal.say(requireNonNull(e.getMessage())); // The next save may mend it.
      return before;
    }
    List<String> changed =
        reading.candidates().stream()
            .filter(candidate -> byAnother || !isKnown(candidate, before))
            .map(Candidate::origin)
            .toList();
    if (changed.isEmpty()) return before;
    Map<String, Verdict> now = bySource(evaluation.verdicts(evaluation.judge(reading)));
    byAnother = false;
    LocalTime time = LocalTime.now(ZoneId.systemDefault());
    for (String source : changed) {
      Verdict verdict = requireNonNull(now.get(source));
      System.out.println(WatchText.line(time, before.get(source), verdict));
      Table.broken(verdict).forEach(line -> System.out.println("    " + line));
    }
    System.out.flush();
    return now;
  }

  /** Reads the reference again, and judges by it from now on if it is another. */
  private boolean readsAnotherReference() throws InterruptedException {
    if (evaluation.asked().suite().reference() == null) return false;
    Optional<RunPlan> now = asked.again(evaluation.asked());
    if (now.isEmpty()) return false;
    evaluation = evaluation.by(now.get());
    return true;
  }

  private static boolean isKnown(Candidate candidate, Map<String, Verdict> before) {
    Verdict verdict = before.get(candidate.origin());
    return verdict != null && verdict.provenance().candidate().equals(candidate.hash());
  }

  private static Map<String, Verdict> bySource(Collection<Verdict> verdicts) {
    return verdicts.stream()
        .collect(Collectors.toMap(v -> v.provenance().source(), Function.identity()));
  }

  /** A line of {@code kbx eval --watch}: what came of a source, and what it was before. */
  private static final class WatchText {
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private WatchText() {}

    /**
     * For example {@code 14:03:12 Activation/gelu: correct (was wrong_values), 1.32x (was 1.10x)}.
     *
     * @param before null for a source that is new
     */
    static String line(LocalTime time, @Nullable Verdict before, Verdict now) {
      String was = before == null ? "" : before.judgement().status().label();
      String status = changed(now.judgement().status().label(), was);
      String speed = speed(now);
      if (!speed.isEmpty()) speed = ", " + changed(speed, before == null ? "" : speed(before));
      String message =
          now.judgement().message() == null ? "" : ": " + firstLine(now.judgement().message());
      String task = Text.clean(now.provenance().category() + "/" + now.provenance().task());
      return TIME.format(time) + " " + task + ": " + status + speed + message;
    }

    private static String changed(String now, String before) {
      return before.isEmpty() || before.equals(now) ? now : now + " (was " + before + ")";
    }

    private static String speed(Verdict verdict) {
      Verdict.Speedup speedup = verdict.judgement().speedup();
      return speedup == null ? "" : "%.2fx".formatted(speedup.value());
    }

    private static String firstLine(String text) {
      return Text.clean(text.lines().findFirst().orElse(""));
    }
  }

  /**
   * Tells when one of some files was written, replaced or deleted. Their folders are watched: most
   * editors write another file and rename it.
   */
  private static final class SourceChanges implements AutoCloseable {
    /** A save is several events; after the last of them the file is whole. */
    private static final long SETTLED_MILLIS = 30;

    private final WatchService service;
    private final Set<Path> files;

    private SourceChanges(WatchService service, Set<Path> files) {
      this.service = service;
      this.files = files;
    }

    /** Changes from now on. */
    static SourceChanges of(List<Path> sources) throws IOException {
      Set<Path> files = new HashSet<>();
      Set<Path> folders = new HashSet<>();
      for (Path source : sources) {
        Path file = source.toAbsolutePath().normalize();
        files.add(file);
        folders.add(file.resolveSibling(""));
      }
      WatchService service = FileSystems.getDefault().newWatchService();
      for (Path folder : folders) {
        folder.register(
            service,
            StandardWatchEventKinds.ENTRY_CREATE,
            StandardWatchEventKinds.ENTRY_MODIFY,
            StandardWatchEventKinds.ENTRY_DELETE);
      }
      return new SourceChanges(service, files);
    }

    /** Waits for a change, and then until there is none for a moment. */
    void await() throws InterruptedException {
      boolean changed = false;
      while (true) {
        WatchKey key =
            changed ? service.poll(SETTLED_MILLIS, TimeUnit.MILLISECONDS) : service.take();
        if (key == null) return;
        changed |= concerns(key);
        if (!key.reset())
          throw new InputException(key.watchable() + ": is gone; nothing is left to watch");
      }
    }

    /** Whether a file is among what happened in a folder; takes the events. */
    private boolean concerns(WatchKey key) {
      Path folder = (Path) key.watchable();
      return key.pollEvents().stream()
          .anyMatch(event ->
              // Without a name it says that events were lost.
              !(event.context() instanceof Path name) || files.contains(folder.resolve(name)));
    }

    @Override
    public void close() throws IOException {
      service.close();
    }
  }
}
