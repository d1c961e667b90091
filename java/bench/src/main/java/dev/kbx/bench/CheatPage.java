package dev.kbx.bench;

import com.samskivert.mustache.Mustache;
import dev.kbx.document.Cell;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.Resources;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The page about cheats, in Markdown: the results of kbx and of other harnesses. */
final class CheatPage {
  /** Path from the page's folder to the checkout. */
  private static final String UP = "../";

  private final Trials onCpu;
  private final List<Trials> onGpus;
  private final Map<String, Trial> bySource;

  private CheatPage(Trials onCpu, List<Trials> onGpus) {
    this.onCpu = onCpu;
    this.onGpus = onGpus;
    this.bySource =
        onGpus.stream()
            .flatMap(run -> run.trials().stream())
            .collect(Collectors.toMap(Trial::source, Function.identity()));
  }

  /**
   * Writes the page that compares a run on the CPU with those kept from GPUs, which have no file in
   * common.
   *
   * @param onGpus files like {@code cheats.json}; need not be there
   * @param endings how cheats must end on a GPU by their headers of today, by path
   */
  static void write(
      Path page, Trials onCpu, List<Path> onGpus, Map<String, Header.Ending> endings) {
    List<Trials> kept =
        onGpus.stream()
            .flatMap(file -> Trials.read(file).stream())
            .map(run -> run.expecting(endings))
            .toList();
    AtomicFile.replace(page.toAbsolutePath(), new CheatPage(onCpu, kept)::write);
  }

  private void write(Writer writer) {
    Mustache.CustomContext holes = this::fill;
    Mustache.compiler().escapeHTML(false).compile(resource("cheats.md")).execute(holes, writer);
  }

  private String fill(String hole) throws IOException {
    StringWriter out = new StringWriter();
    switch (hole) {
      case "totals" -> totals(out);
      case "gaps" -> gaps(out);
      case "published" -> published(out);
      case "harnesses" -> OtherHarnesses.write(out, this::ours);
      default -> group(out, hole);
    }
    return out.toString();
  }

  private void totals(Writer out) throws IOException {
    totals(out, onCpu);
    for (Trials onGpu : onGpus) totals(out, onGpu);
  }

  private static void totals(Writer out, Trials trials) throws IOException {
    Map<String, String> versions = trials.versions();
    out.write(
        "**%s** (torch %s, Triton %s):\n\n"
            .formatted(
                trials.device().onCpu() ? "CPU" : trials.device().name(),
                versions.get("torch"),
                versions.get("triton")));
    for (String line : CheatTable.totals(trials)) out.write("- %s\n".formatted(line));
    out.write("\n");
  }

  private void group(Writer out, String group) throws IOException {
    rows(out, CheatTable.group(onCpu, group));
  }

  private void rows(Writer out, List<Trial> trials) throws IOException {
    out.write("| cheat | what it does | rule | static rules off, CPU | and GPU |\n");
    out.write("|---|---|---|---|---|\n");
    for (Trial trial : trials) {
      out.write(
          "| [%s](%s%s) | %s | %s | %s | %s |\n"
              .formatted(
                  trial.name(),
                  UP,
                  trial.source(),
                  trial.summary().replace("|", "\\|"),
                  rules(trial),
                  ended(trial),
                  ended(bySource.get(trial.source()))));
    }
  }

  /** What became of the files of each publication: by today's headers, on a GPU as well. */
  private void published(Writer out) throws IOException {
    out.write(
        "| published in | cheats | rejected by static rules | accepted, CPU | accepted, GPU"
            + " | honest kernels | false alarms |\n");
    out.write("|---".repeat(7) + "|\n");
    for (Publication each : Publication.ALL) {
      published(out, each.link(), trial -> trial.sources().contains(each.key()));
    }
    published(out, "**all of these**, each file once", trial -> !trial.sources().isEmpty());
    published(out, "**kbx's own**", trial -> trial.sources().isEmpty());
  }

  private void published(Writer out, String title, Predicate<Trial> wanted) throws IOException {
    List<Trial> files = onCpu.trials().stream().filter(wanted).toList();
    List<Trial> cheats = files.stream().filter(t -> t.kind() == Trial.Kind.CHEAT).toList();
    Set<String> paths = cheats.stream().map(Trial::source).collect(Collectors.toSet());
    List<Trial> there = new ArrayList<>();
    long acceptedThere = 0;
    for (Trials run : onGpus) {
      List<Trial> same =
          run.trials().stream().filter(trial -> paths.contains(trial.source())).toList();
      there.addAll(same);
      acceptedThere += same.stream().filter(run::accepted).count();
    }
    out.write(
        "| %s | %d | %d | %s | %s of %d | %d | %d |\n"
            .formatted(
                title,
                cheats.size(),
                cheats.stream().filter(t -> !t.rejectedBy().isEmpty()).count(),
                withGaps(cheats.stream().filter(onCpu::accepted).count(), cheats),
                withGaps(acceptedThere, there),
                there.size(),
                files.size() - cheats.size(),
                files.stream().filter(Trial::turnedAway).count()));
  }

  private static String withGaps(long accepted, List<Trial> trials) {
    long gaps = trials.stream().filter(Trial::knownGap).count();
    return gaps == 0 ? "%d".formatted(accepted) : "%d (known gaps: %d)".formatted(accepted, gaps);
  }

  private void gaps(Writer out) throws IOException {
    List<Trial> known =
        onCpu.trials().stream()
            .filter(t -> t.knownGap() || isKnownGap(bySource.get(t.source())))
            .sorted(Comparator.comparing(Trial::source))
            .toList();
    rows(out, known);
  }

  private static boolean isKnownGap(@Nullable Trial trial) {
    return trial != null && trial.knownGap();
  }

  private static String rules(Trial trial) {
    if (trial.rejectedBy().isEmpty()) return "";
    return trial.rejectedBy().stream()
        .filter(rule -> trial.mustReject().contains(rule))
        .findFirst()
        .or(() -> trial.rejectedBy().stream().findFirst())
        .map("`%s`"::formatted)
        .orElse("");
  }

  private static String ended(@Nullable Trial trial) {
    if (trial == null || trial.ended() == null) return "not run";
    if (trial.ended() != Status.CORRECT) return trial.ended().label();
    if (trial.beyond()) return String.valueOf(trial.mustEnd());
    if (trial.knownGap()) return "**correct**, a known gap";
    if (!trial.onMerit()) return "**correct**";
    String told =
        trial.told().isEmpty() ? "" : ", told as `%s`".formatted(String.join("`, `", trial.told()));
    return trial.speedup() == null
        ? "correct, on merit" + told
        : "correct, on merit: %s%s".formatted(Cell.ratio(trial.speedup()).text(), told);
  }

  /**
   * Number of cheats of these mechanisms, and of those that get nothing by them.
   *
   * <p>Of a known gap without a GPU decides what a GPU says.
   */
  private String ours(List<String> mechanisms) {
    List<Trial> trials =
        onCpu.trials().stream()
            .filter(t -> t.kind() == Trial.Kind.CHEAT)
            .filter(t ->
                mechanisms.contains(Objects.requireNonNullElse(t.group(), "") + "/" + t.name()))
            .toList();
    int files = trials.size();
    long accepted = trials.stream().filter(this::accepted).count();
    if (files == 0) return "";
    if (accepted > 0) return "✗ %d of %d".formatted(files - accepted, files);
    long open = trials.stream().filter(this::needsGpu).count();
    return open == 0
        ? "✓ %d of %d".formatted(files, files)
        : "%d of %d, the rest needs a GPU".formatted(files - open, files);
  }

  private boolean accepted(Trial trial) {
    Trial there = bySource.get(trial.source());
    return (onCpu.accepted(trial) && !trial.knownGap())
        || (there != null
            && onGpus.stream()
                .anyMatch(run -> run.trials().contains(there) && run.accepted(there)));
  }

  /** Whether only a run on a GPU can decide: without timing, ending as correct says nothing. */
  private boolean needsGpu(Trial trial) {
    return trial.ended() == Status.CORRECT && !bySource.containsKey(trial.source());
  }

  private static String resource(String name) {
    return Resources.text(CheatPage.class, name);
  }

  /**
   * How other harnesses handle cheats: a tab-separated table in the resources, a cheat a line.
   *
   * <p>Columns: the cheat, a cell for each harness, and the names of our own mechanisms that try
   * the same, separated by commas. A cell is {@code y}, {@code p} or {@code n} (caught, partly,
   * not) and how that is known: {@code V} run on a CPU, {@code G} run on an H200, {@code R} read in
   * the source, {@code I} inferred from what was read. Empty: not known.
   */
  private static final class OtherHarnesses {
    private static final String FILE = "other-harnesses.tsv";
    private static final Map<Character, String> MARKS = Map.of('y', "✓", 'p', "~", 'n', "✗");

    private OtherHarnesses() {}

    /**
     * Writes the table in Markdown.
     *
     * @param ours describes the result of our mechanisms
     */
    static void write(Writer out, Function<List<String>, String> ours) throws IOException {
      List<String[]> rows =
          resource(FILE)
              .lines()
              .filter(line -> !line.isBlank())
              .map(line -> line.split("\t", -1))
              .toList();
      String[] head = rows.getFirst();
      int last = head.length - 1;
      out.write(
          "| cheat | kbx | %s |\n"
              .formatted(String.join(" | ", Arrays.copyOfRange(head, 1, last))));
      out.write("|---".repeat(head.length) + "|\n");
      for (String[] row : rows.subList(1, rows.size())) {
        List<String> cells = Arrays.stream(row, 1, last).map(OtherHarnesses::cell).toList();
        String fared = ours.apply(List.of(row[last].split(",", -1)));
        out.write("| %s | %s | %s |\n".formatted(row[0], fared, String.join(" | ", cells)));
      }
    }

    private static String cell(String text) {
      if (text.isEmpty()) return "";
      return MARKS.get(text.charAt(0)) + " " + text.substring(1);
    }
  }
}
