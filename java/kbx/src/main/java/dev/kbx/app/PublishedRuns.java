package dev.kbx.app;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.FastP;
import dev.kbx.analysis.Finding;
import dev.kbx.analysis.IncomparableRuns;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.PassK;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.analysis.SampleCounts;
import dev.kbx.analysis.SelectedRun;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.document.Document;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.paper.MeasurementConditions;
import dev.kbx.paper.Publication;
import dev.kbx.report.ResultFiles;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.SuiteSelection;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.OverviewSection;
import dev.kbx.section.TurnsSection;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectReader;

/** Runs that a report is about. */
public final class PublishedRuns {
  /** Speedups of fast_p@k, as {@code kbx analyze methods} has them. */
  private static final List<Double> PS = List.of(1.0, 2.0);

  private final Home home;
  private final NoiseFloors floors;
  private final List<NamedRun.Found> runs;
  private final Causes causes;
  private final List<Publication.Without> without = new ArrayList<>();

  private PublishedRuns(Home home, NoiseFloors floors, List<NamedRun.Found> runs, Causes causes) {
    this.home = home;
    this.floors = floors;
    this.runs = runs;
    this.causes = causes;
  }

  /** The published runs that are named; without a name, the newest in the folder. */
  public static PublishedRuns of(
      Home home, NoiseFloors floors, List<String> names, ResultsFolder folder) {
    Causes causes = new Causes();
    List<NamedRun.Found> found =
        names.isEmpty()
            ? List.of(new NamedRun.Found(NamedRun.newest(folder, causes::add), folder))
            : NamedRun.find(names, folder, causes::add);
    NamedRun.refuseMixture(found.stream().map(NamedRun.Found::judged).toList());
    return new PublishedRuns(home, floors, found, causes);
  }

  private List<JudgedRun> judged() {
    return runs.stream().map(NamedRun.Found::judged).toList();
  }

  /** All verdicts of all runs, whole. */
  public void forEach(Consumer<Verdict> reader) {
    forEachStored(stored -> reader.accept(stored.verdict()));
  }

  private void forEachStored(Consumer<Stored> reader) {
    for (NamedRun.Found run : runs) {
      try (RunStore store = run.place().open()) {
        store.forEach(run.judged().run().id(), reader);
      }
    }
  }

  /** Writes the page of the only run. */
  public void page(Path file) {
    if (runs.size() > 1) {
      throw new InputException(
          "--format html: is the page of one run, and %d were named".formatted(runs.size()));
    }
    NamedRun.Found found = runs.getFirst();
    RunInfo run = found.judged().run();
    Path ledger = ledger(found);
    try (RunStore store = found.place().open()) {
      RunVerdicts verdicts = RunResults.verdicts(store, run.id());
      AtomicFile.replace(
          file,
          ResultFiles.page(
              run,
              verdicts,
              SuiteSelection.of(found.judged(), home.selected(run)),
              verdict -> store.source(verdict.provenance().candidate()).orElse(""),
              ledger == null ? null : LedgerReport.of(ledger, verdicts.rows())));
    }
  }

  /** Whether there is one run, which has one candidate. */
  public boolean isOneKernel() {
    return runs.size() == 1 && runs.getFirst().judged().rows().size() == 1;
  }

  /**
   * What a reviewer needs of one candidate.
   *
   * @param name its task, file or hash; null for the only one
   */
  public Document kernel(@Nullable String name) {
    if (runs.size() > 1) {
      throw new InputException(
          "--candidate: is of one run, and %d were named".formatted(runs.size()));
    }
    NamedRun.Found found = runs.getFirst();
    if (name != null) return NamedKernel.document(found, name);
    if (!isOneKernel()) {
      throw new InputException(
          "run %s has %d candidates: name one by --candidate"
              .formatted(found.judged().run().id(), found.judged().rows().size()));
    }
    return NamedKernel.document(found, 0);
  }

  public Publication publication() {
    SelectedRuns asked = NamedRun.asked(home, judged());
    Methods methods = Methods.of(asked, SampleCounts.of(asked.rows()), PS);
    OverviewSection.Overview overview =
        overview(asked, methods, causes, floors, () -> Deviance.of(asked));
    if (overview.iterations() == null) {
      without.add(new Publication.Without("iterations", "no method has candidates of two rounds"));
    }
    return new Publication(
        overview,
        fastP(asked),
        passK(asked),
        PropertyMatrix.of(asked.rows()),
        portability(),
        ofMethods("budget", PublishedRuns::budget),
        ofMethods("turns", PublishedRuns::turns),
        without,
        new Publication.Measurement(
            judged().stream().map(JudgedRun::run).toList(),
            methods.entered(),
            conditions(),
            floors.ofRuns(asked)));
  }

  /**
   * All analyses beside that of methods.
   *
   * @param explained finds the deviance, which takes longest
   */
  public static OverviewSection.Overview overview(
      SelectedRuns runs,
      Methods methods,
      Causes causes,
      NoiseFloors floors,
      Supplier<Deviance> explained) {
    // The deviance itself uses what processors are idle.
    var iterations =
        CompletableFuture.supplyAsync(
            () -> Iterations.haveRounds(runs) ? Iterations.of(runs, floors.ofRuns(runs)) : null);
    var errors = CompletableFuture.supplyAsync(() -> AdvisedErrors.of(Errors.of(runs, causes)));
    Deviance deviance = explained.get();
    return new OverviewSection.Overview(
        Finding.of(runs), methods, deviance, iterations.join(), errors.join());
  }

  private MeasurementConditions conditions() {
    MeasurementConditions.Reader reader = new MeasurementConditions.Reader();
    ObjectReader stated = Json.mapper().readerFor(MeasurementConditions.Stated.class);
    forEachStored(stored -> {
      MeasurementConditions.Stated found = stated.readValue(stored.json());
      reader.add(found);
    });
    return reader.conditions();
  }

  private List<FastP> fastP(SelectedRuns asked) {
    List<FastP> all = new ArrayList<>();
    for (SelectedRun run : asked.runs()) {
      List<FastP> own =
          known("fast_p", () -> FastP.of(run.judged(), run.asked(), FastP.Pick.FIRST_SAMPLE));
      if (own == null) continue;
      all.addAll(own);
      String untimed = own.getFirst().untimed();
      if (untimed != null) {
        String id = run.judged().run().id();
        without.add(
            new Publication.Without(
                "fast_p", "run %s: nothing was timed: %s".formatted(id, untimed)));
      }
    }
    return all;
  }

  private List<PassK> passK(SelectedRuns asked) {
    List<Integer> ks = SampleCounts.of(asked.rows());
    return asked.runs().stream()
        .filter(run -> run.judged().run().stages().contains(Stage.CALL))
        .flatMap(run -> PassK.of(run.judged(), run.asked(), ks).stream())
        .toList();
  }

  private @Nullable Portability portability() {
    if (runs.size() > 1 && Portability.isFor(judged())) {
      return known("portability", () -> Portability.of(judged()));
    }
    without.add(
        new Publication.Without("portability", "the runs are not timed ones on several devices"));
    return null;
  }

  /** What an analysis says; null if it has no data, which is recorded. */
  private <T> @Nullable T known(String analysis, Supplier<T> figures) {
    try {
      return figures.get();
    } catch (IncomparableRuns e) {
      without.add(new Publication.Without(analysis, String.valueOf(e.getMessage())));
      return null;
    }
  }

  /** What an analysis says of each run that has a ledger. */
  private <T> List<T> ofMethods(String analysis, BiFunction<JudgedRun, Path, T> figures) {
    List<T> all = new ArrayList<>();
    for (NamedRun.Found run : runs) {
      Path ledger = ledger(run);
      if (ledger != null) all.add(figures.apply(run.judged(), ledger));
    }
    if (all.isEmpty()) {
      without.add(new Publication.Without(analysis, "no run has a ledger of methods"));
    }
    return all;
  }

  private static BudgetSection.Curves budget(JudgedRun judged, Path ledger) {
    return new BudgetSection.Curves(
        judged.run().id(), BudgetCurve.of(Ledgers.rows(ledger, judged.rows())));
  }

  private static TurnsSection.Turns turns(JudgedRun judged, Path ledger) {
    return TurnsSection.Turns.of(
        judged.run().id(), Ledgers.rows(ledger, judged.rows()), Ledgers.followed(ledger));
  }

  private static @Nullable Path ledger(NamedRun.Found run) {
    Path ledger = Ledgers.file(run.folder(), run.judged().run().id());
    return Files.isRegularFile(ledger) ? ledger : null;
  }
}
