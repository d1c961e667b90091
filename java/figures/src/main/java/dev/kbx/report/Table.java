package dev.kbx.report;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.Finding;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block;
import dev.kbx.document.Block.Note;
import dev.kbx.document.Block.Prose;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.document.Text;
import dev.kbx.section.FindingSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.RatesSection;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table at the end of a run: candidates, tallies by category, and what was not measured. No
 * line is wider than the terminal.
 *
 * @param width columns of the terminal; at least {@value #NARROWEST} are assumed
 * @param colour whether to write ANSI colours
 */
public record Table(int width, boolean colour) {
  private static final int NARROWEST = 60;

  /** Maximum lines of a reason. */
  private static final int REASON_LINES = 3;

  /** Maximum lines of a reason for named files. */
  private static final int FILE_REASON_LINES = 12;

  /** Maximum lines for what a named file holds for, and for each break. */
  private static final int BREAK_LINES = 2;

  /** If there are more rows, each has one line, so that they fit a screen. */
  private static final int MANY_ROWS = 12;

  /** If there are more candidates, only some failing ones are listed, or else the first. */
  private static final int ALL = 60;

  /** Number of listed candidates of each failing status. */
  private static final int PER_STATUS = 4;

  /** Number of listed candidates if none fails. */
  private static final int FIRST = 12;

  public Table {
    width = Math.max(width, NARROWEST);
  }

  /**
   * The table, ending in a line break.
   *
   * @param asked the requested tasks, the denominator of rates
   * @param rest the complete list, named if this table is incomplete: the report's path
   */
  public String render(RunInfo run, RunVerdicts verdicts, SelectedTasks asked, String rest) {
    List<VerdictRow> rows = verdicts.rows();
    Tally tally = Tally.of(run, rows, asked);
    List<Block> blocks = new ArrayList<>(candidates(verdicts, tally, run.ofFiles(), rest));
    if (!run.ofFiles() && !run.ofChanges()) blocks.addAll(rates(run, rows, tally));
    if (!run.ofFiles() || rows.size() != 1) blocks.add(new Prose(statuses(rows)));
    if (!run.ofFiles()) blocks.add(new Note(coverage(run, rows, tally)));
    else if (!rows.isEmpty()) blocks.add(new Note(Notes.correct(run, rows) + "."));
    for (Notes.Note note : Notes.of(run, rows, tally)) blocks.add(new Note(note.text()));
    Section section = new Section("run", "", blocks);
    return new TerminalRenderer(width, colour).render(Document.of(section));
  }

  // ---------------------------------------------------------------- candidates

  /**
   * @param files whether named files were judged, of which more is shown
   */
  private List<Block> candidates(RunVerdicts verdicts, Tally tally, boolean files, String rest) {
    List<RunVerdicts.Entry> all = verdicts.entries();
    List<Verdict> listed = verdicts.whole(all.size() <= ALL ? all : worthListing(all));
    List<Block> blocks = new ArrayList<>();
    if (listed.size() > MANY_ROWS) blocks.add(many(listed));
    else if (!listed.isEmpty()) blocks.addAll(few(listed, tally, files));
    int left = verdicts.size() - listed.size();
    if (left > 0) blocks.add(new Note("… and %d more; all are in %s".formatted(left, rest)));
    return blocks;
  }

  /** The first few of every failing status, grouped by status; the first of all if none fails. */
  private static List<RunVerdicts.Entry> worthListing(List<RunVerdicts.Entry> all) {
    Map<Status, List<RunVerdicts.Entry>> failing = new EnumMap<>(Status.class);
    for (RunVerdicts.Entry entry : all) {
      Status status = entry.row().status();
      if (status == Status.CORRECT) continue;
      List<RunVerdicts.Entry> some = failing.computeIfAbsent(status, _ -> new ArrayList<>());
      if (some.size() < PER_STATUS) some.add(entry);
    }
    if (failing.isEmpty()) return all.subList(0, FIRST);
    return failing.values().stream().flatMap(List::stream).toList();
  }

  private List<Block> few(List<Verdict> listed, Tally tally, boolean files) {
    int longest = (files ? FILE_REASON_LINES : REASON_LINES) * width;
    List<Column.Of<Verdict>> columns = new ArrayList<>();
    columns.add(Column.text("task", each -> VerdictRow.of(each).name()));
    columns.add(Column.text("source", each -> each.provenance().source()));
    columns.add(status());
    columns.add(Column.<Verdict>text("stage", each -> each.judgement().stage().label()).optional());
    columns.add(Column.<Verdict>number("time", Table::time).optional());
    if (tally.perf() || listed.stream().anyMatch(each -> each.judgement().speedup() != null)) {
      columns.add(Column.number("speedup", each -> speedup(each, files)));
    }
    if (listed.stream().anyMatch(each -> each.judgement().expert() != null)) {
      columns.add(
          Column.number("of expert's speed", each -> RatesSection.ofExpert(each.judgement())));
    }
    if (listed.stream().anyMatch(each -> !reason(each).isEmpty())) {
      columns.add(
          Column.<Verdict>text("reason", each -> Text.cut(reason(each), longest)).wrapped());
    }
    List<Block> blocks = new ArrayList<>();
    blocks.add(Block.Table.of("candidates", "", columns, listed));
    if (files && listed.size() == 1) blocks.addAll(single(listed.getFirst()));
    List<Kernel> kernels = listed.stream().flatMap(each -> Kernel.of(each)).toList();
    if (!kernels.isEmpty()) blocks.add(profile(kernels));
    return blocks;
  }

  private static Column.Of<Verdict> status() {
    return new Column.Of<>(
        Column.text("status"), each -> RatesSection.label(each.judgement().status()));
  }

  private static Cell time(Verdict verdict) {
    Map<String, Double> seconds = verdict.judgement().seconds();
    return Cell.seconds(
        seconds.isEmpty() ? null : seconds.values().stream().mapToDouble(s -> s).sum());
  }

  private static Cell speedup(Verdict verdict, boolean interval) {
    Cell whole = RatesSection.speedup(verdict.judgement().speedup());
    return interval ? whole : Cell.text(whole.brief());
  }

  /** What a single file's speedup is against, where it holds, and where it breaks. */
  private List<Block> single(Verdict verdict) {
    List<String> lines = new ArrayList<>();
    Verdict.Speedup speedup = verdict.judgement().speedup();
    if (speedup != null) lines.add("Speedup against %s.".formatted(speedup.baseline()));
    List<String> holds = verdict.judgement().holds();
    if (holds != null && !holds.isEmpty()) lines.add("Holds for " + String.join(", ", holds));
    lines.addAll(broken(verdict));
    List<Verdict.Unknown> unknown = verdict.judgement().unknown();
    if (unknown != null) {
      unknown.forEach(each ->
          lines.add("Unknown: %s, %s".formatted(each.property(), Text.clean(each.message()))));
    }
    return lines.stream()
        .<Block>map(line -> new Note(Text.cut(line, BREAK_LINES * width)))
        .toList();
  }

  /** What a candidate breaks on beyond what decided, a line each. */
  public static List<String> broken(Verdict verdict) {
    List<Verdict.Break> breaks = verdict.judgement().breaks();
    if (breaks == null) return List.of();
    return breaks.stream()
        .filter(each -> !Objects.equals(verdict.judgement().message(), each.message()))
        .map(each ->
            "Breaks on %s: %s, %s"
                .formatted(each.property(), each.status().label(), Text.clean(each.message())))
        .toList();
  }

  /** The block of many verdicts, a line each: the common folder of all sources is left out. */
  private static Block many(List<Verdict> listed) {
    boolean categories = ambiguous(listed);
    Path common = common(listed);
    return Block.Table.of(
        "candidates",
        "",
        List.of(
            Column.text("task", each -> task(each, categories)),
            Column.text("source", each -> below(common, each.provenance().source())),
            status(),
            Column.<Verdict>text("reason", Table::result)),
        listed);
  }

  /** Whether two tasks of different categories have one name. */
  private static boolean ambiguous(List<Verdict> verdicts) {
    Set<String> tasks = new HashSet<>();
    Set<String> paths = new HashSet<>();
    for (Verdict verdict : verdicts) {
      tasks.add(verdict.provenance().task());
      paths.add(VerdictRow.of(verdict).path());
    }
    return tasks.size() != paths.size();
  }

  private static String task(Verdict verdict, boolean categories) {
    String name = VerdictRow.of(verdict).name();
    return categories ? name : name.substring(name.indexOf('/') + 1);
  }

  private static @Nullable Path common(List<Verdict> verdicts) {
    Path common = Path.of(verdicts.getFirst().provenance().source()).getParent();
    for (Verdict verdict : verdicts) {
      Path source = Path.of(verdict.provenance().source());
      while (common != null && !source.startsWith(common)) common = common.getParent();
    }
    return common;
  }

  private static String below(@Nullable Path folder, String source) {
    return folder == null ? source : folder.relativize(Path.of(source)).toString();
  }

  private static String result(Verdict verdict) {
    Verdict.Speedup speedup = verdict.judgement().speedup();
    return speedup == null
        ? reason(verdict)
        : "%s %s".formatted(Cell.ratio(speedup.value()).text(), reason(verdict)).strip();
  }

  /** Why it failed, or notes on a correct one, in one line of any length; may be empty. */
  private static String reason(Verdict verdict) {
    String what =
        verdict.judgement().rule() != null
            ? verdict.judgement().rule()
            : verdict.judgement().evidence();
    String message = Text.clean(Judgement.findingFirst(verdict.judgement().message()));
    String reason =
        Stream.of(Text.clean(what), message, breaks(verdict))
            .filter(s -> !s.isEmpty())
            .collect(joining(": "));
    List<String> flags = Notes.flags(verdict);
    if (flags.isEmpty()) return reason;
    return (reason + " [" + String.join(", ", flags) + "]").strip();
  }

  /** The properties beyond the published grade on which a correct candidate fails. */
  private static String breaks(Verdict verdict) {
    List<Verdict.Break> breaks = verdict.judgement().breaks();
    if (verdict.judgement().status() != Status.CORRECT || breaks == null || breaks.isEmpty())
      return "";
    return breaks.stream().map(Verdict.Break::property).collect(joining(", ", "breaks on ", ""));
  }

  /** A kernel of a candidate with what its profile says. */
  private record Kernel(Verdict verdict, Profile.Kernel kernel) {
    static Stream<Kernel> of(Verdict verdict) {
      Profile profile = verdict.judgement().profile();
      return profile == null || profile.kernels() == null
          ? Stream.of()
          : profile.kernels().stream().map(kernel -> new Kernel(verdict, kernel));
    }
  }

  private static Block profile(List<Kernel> kernels) {
    return Block.Table.of(
        "profile",
        "",
        List.of(
            Column.text("kernel", each -> each.kernel.kernel()),
            Column.<Kernel>text("of", each -> VerdictRow.of(each.verdict).name()).optional(),
            Column.<Kernel>number("launches", each -> Cell.count(each.kernel.launches()))
                .optional(),
            Column.number("longest", each -> Cell.seconds(each.kernel.durationMs() / 1000)),
            Column.number("occupancy", each -> percent(each.kernel.achievedOccupancyPct())),
            Column.<Kernel>number(
                    "possible", each -> percent(each.kernel.theoreticalOccupancyPct()))
                .optional(),
            Column.number("DRAM", each -> percent(each.kernel.dramPct())),
            Column.number("SM", each -> percent(each.kernel.smPct())),
            Column.number("registers", each -> Cell.count(each.kernel.registers())),
            Column.<Kernel>text("waits for", each -> each.kernel.stall())),
        kernels);
  }

  private static Cell percent(@Nullable Double percent) {
    return Cell.share(percent == null ? null : (Double) (percent / 100));
  }

  // ---------------------------------------------------------------- tallies

  /**
   * The rates of one method and model by category; of several as analyses have them, never mixed.
   */
  private List<Block> rates(RunInfo run, List<VerdictRow> rows, Tally tally) {
    if (MethodAndModel.group(rows).size() < 2) {
      Block.Table whole = RatesSection.categories(run, tally, rows, true);
      boolean fits = new TerminalRenderer(width, false).fits(whole);
      return List.of(fits ? whole : RatesSection.categories(run, tally, rows, false));
    }
    SelectedRuns asked = SelectedRuns.of(new JudgedRun(run, rows), tally.asked());
    Methods methods = Methods.of(asked, List.of(), List.of());
    Finding finding = Finding.of(asked);
    List<Block> blocks = new ArrayList<>(MethodsSection.where(methods, finding.ranking()).blocks());
    blocks.addAll(FindingSection.of(finding, methods).blocks());
    return blocks;
  }

  /** {@code 12 correct · 5 wrong_values · …}. */
  private static String statuses(List<VerdictRow> rows) {
    if (rows.isEmpty()) return "No candidate was judged.";
    return Tally.byStatus(rows).entrySet().stream()
        .map(each -> each.getValue() + " " + each.getKey().label())
        .collect(joining(" · "));
  }

  private static String coverage(RunInfo run, List<VerdictRow> rows, Tally tally) {
    return "%d of %d tasks of %s have a %s."
        .formatted(
            tally.submitted(rows),
            tally.asked().total(),
            run.suite(),
            run.published() == null ? "candidate" : "published result");
  }
}
