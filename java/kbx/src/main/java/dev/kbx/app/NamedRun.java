package dev.kbx.app;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedRun;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.error.InputException;
import dev.kbx.report.SuiteSelection;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * A run as named on the command line: an id or a name in {@code --out}, a results folder (its
 * newest complete run), or {@code FOLDER/ID}.
 */
public final class NamedRun {
  /** How runs are named, in words for help texts. */
  public static final String HELP =
      "A run: its id or name in --out; a results folder, for its newest complete run; or"
          + " FOLDER/ID.";

  private static final String FORMS = "name a results folder, FOLDER/ID, or an id in --out";

  private NamedRun() {}

  /**
   * A run that was named.
   *
   * @param place the results folder that has its files, and where its verdicts are
   */
  public record Found(JudgedRun judged, ResultsFolder place) {
    public Path folder() {
      return place.out();
    }
  }

  /** Reads the runs with their verdicts, in the order given. */
  public static List<JudgedRun> read(List<String> references, ResultsFolder out) {
    return read(references, out, (_, _) -> {});
  }

  /** The same; each verdict is shown to {@code reader} with its row, and not kept. */
  public static List<JudgedRun> read(
      List<String> references, ResultsFolder out, BiConsumer<VerdictRow, BriefVerdict> reader) {
    return find(references, out, reader).stream().map(Found::judged).toList();
  }

  /** The runs with the places of their files. */
  public static List<Found> find(List<String> references, ResultsFolder out) {
    return find(references, out, (_, _) -> {});
  }

  /** The same; each verdict is shown to {@code reader} with its row, and not kept. */
  static List<Found> find(
      List<String> references, ResultsFolder out, BiConsumer<VerdictRow, BriefVerdict> reader) {
    return references.stream().map(reference -> find(reference, out, reader)).toList();
  }

  /**
   * Sources of some candidates of a run, by hash; those that the store does not have are absent.
   */
  public static Map<String, String> sources(
      String reference, ResultsFolder out, Set<String> candidates) {
    Path path = Path.of(reference);
    Path parent = Files.isDirectory(path) ? path : path.getParent();
    Map<String, String> sources = new HashMap<>();
    try (RunStore store = (parent == null ? out : ResultsFolder.of(parent)).open()) {
      for (String candidate : candidates) {
        store.source(candidate).ifPresent(source -> sources.put(candidate, source));
      }
    }
    return sources;
  }

  private static Found find(
      String reference, ResultsFolder out, BiConsumer<VerdictRow, BriefVerdict> reader) {
    if (reference.isEmpty())
      throw new InputException("RUN: is empty; name a run or a results folder");
    Path path = Path.of(reference);
    if (Files.isDirectory(path)) {
      ResultsFolder folder = ResultsFolder.of(path);
      return new Found(newest(folder, reader), folder);
    }
    if (Files.exists(path)) {
      throw new InputException("%s: is a file; %s".formatted(path, FORMS));
    }
    Path parent = path.getParent();
    String id = path.getFileName().toString();
    return byId(path, id, parent == null ? out : ResultsFolder.of(parent), reader);
  }

  /** Reads the newest complete run of a folder or database. */
  public static JudgedRun newest(
      ResultsFolder folder, BiConsumer<VerdictRow, BriefVerdict> reader) {
    try (RunStore store = folder.open()) {
      return judged(store, newest(store.runs(), folder.place()), reader);
    }
  }

  /** The first of them that is complete. */
  static RunInfo newest(List<RunInfo> runs, String place) {
    String others =
        !runs.isEmpty() && runs.stream().allMatch(RunInfo::neverEnds)
            ? "of kbx serve or kbx mcp, which have no end"
            : "that were cut off";
    return runs.stream()
        .filter(run -> run.finished() != null)
        .findFirst()
        .orElseThrow(() ->
            new InputException(
                "%s: no complete run there; name one of those %s as %s/ID"
                    .formatted(place, others, place)));
  }

  private static Found byId(
      Path reference,
      String id,
      ResultsFolder folder,
      BiConsumer<VerdictRow, BriefVerdict> reader) {
    String place = folder.place();
    try (RunStore store =
        folder
            .existing()
            .orElseThrow(() -> neither(reference, "no runs in %s; %s".formatted(place, FORMS)))) {
      Optional<RunInfo> run = store.run(id);
      if (run.isEmpty()) run = called(store.runs(), id);
      if (run.isPresent()) {
        SessionRuns.writeLedger(store, run.get(), folder.out());
        return new Found(judged(store, run.get(), reader), folder);
      }
      String there = ResultsFolder.listed(store.runs());
      throw neither(reference, "no such run in %s; %s".formatted(place, there));
    }
  }

  /** The newest complete run of that name. */
  private static Optional<RunInfo> called(List<RunInfo> runs, String name) {
    return runs.stream()
        .filter(run -> name.equals(run.name()) && run.finished() != null)
        .findFirst();
  }

  private static InputException neither(Path reference, String norRun) {
    return new InputException("%s: no such results folder, and %s".formatted(reference, norRun));
  }

  /**
   * Runs as one set, with the tasks that they asked for.
   *
   * @throws InputException if they are of two suites, or some are as published and others are not
   */
  public static SelectedRuns asked(Home home, List<JudgedRun> judged) {
    refuseMixture(judged);
    List<SelectedRun> asked =
        judged.stream()
            .map(run -> {
              List<Task> selected = home.selected(run.run());
              return new SelectedRun(
                  run, SuiteSelection.of(run, selected), SuiteSelection.traits(run, selected));
            })
            .toList();
    checkSuites(asked);
    return new SelectedRuns(asked);
  }

  /** Tasks of two suites have no categories in common. */
  private static void checkSuites(List<SelectedRun> runs) {
    String first = runs.getFirst().judged().run().suite();
    for (SelectedRun run : runs) {
      String other = run.judged().run().suite();
      if (other.equals(first)) continue;
      throw new InputException(
          "runs of two suites, %s and %s: analyse them one by one".formatted(first, other));
    }
  }

  /** Throws if some of the runs are as published and others were judged here. */
  static void refuseMixture(List<JudgedRun> all) {
    List<RunInfo> runs = all.stream().map(JudgedRun::run).toList();
    RunInfo published =
        runs.stream().filter(run -> run.published() != null).findFirst().orElse(null);
    RunInfo judged = runs.stream().filter(run -> run.published() == null).findFirst().orElse(null);
    if (published == null || judged == null) return;
    throw new InputException(
        "run %s is as published and run %s was judged by kbx: analyse them one by one, or 'kbx compare' them"
            .formatted(published.id(), judged.id()));
  }

  private static JudgedRun judged(
      RunStore store, RunInfo run, BiConsumer<VerdictRow, BriefVerdict> reader) {
    List<VerdictRow> rows = new ArrayList<>();
    store.forEachRow(
        run.id(),
        placed -> {
          VerdictRow row = VerdictRow.of(placed.verdict());
          rows.add(row);
          reader.accept(row, placed.verdict());
        });
    return new JudgedRun(run, rows);
  }
}
