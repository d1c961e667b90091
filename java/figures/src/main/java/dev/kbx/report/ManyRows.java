package dev.kbx.report;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Text;
import dev.kbx.report.Table.Ansi;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * A table of many candidates with one line for each: its speedup or the beginning of its reason.
 * The common folder of all sources is left out, and categories are if task names stay unique.
 */
final class ManyRows {
  private static final int STATUS = 16;

  private final List<Verdict> verdicts;
  private final int width;
  private final boolean categories;
  private final Path common;
  private final int task;
  private final int source;

  /**
   * @param width columns of the terminal
   */
  ManyRows(List<Verdict> verdicts, int width) {
    this.verdicts = verdicts;
    this.width = width;
    this.categories = ambiguous(verdicts);
    this.common = common(verdicts);
    int free = width - STATUS - 3;
    int longest = verdicts.stream().map(this::task).mapToInt(Text::columns).max().orElse(4);
    this.task = Math.max(4, Math.min(longest, free / 3));
    int sources = verdicts.stream().map(this::source).mapToInt(Text::columns).max().orElse(6);
    this.source = Math.max(6, Math.min(sources, (free - task) * 2 / 3));
  }

  private static boolean ambiguous(List<Verdict> verdicts) {
    Set<String> tasks = new HashSet<>();
    Set<String> paths = new HashSet<>();
    for (Verdict verdict : verdicts) {
      tasks.add(verdict.provenance().task());
      paths.add(VerdictRow.of(verdict).path());
    }
    return tasks.size() != paths.size();
  }

  private static Path common(List<Verdict> verdicts) {
    Path common = Path.of(verdicts.getFirst().provenance().source()).getParent();
    for (Verdict verdict : verdicts) {
      Path source = Path.of(verdict.provenance().source());
      while (common != null && !source.startsWith(common)) common = common.getParent();
    }
    return common == null ? Path.of("") : common;
  }

  /**
   * The lines with their header.
   *
   * @param paint gives a text a colour
   */
  List<String> lines(BiFunction<Ansi, String, String> paint) {
    List<String> lines = new ArrayList<>();
    lines.add(paint.apply(Ansi.DIM, line("task", "source", Text.left("status", STATUS), "")));
    for (Verdict verdict : verdicts) {
      String status =
          paint.apply(
              Table.colourOf(verdict), Text.left(verdict.judgement().status().label(), STATUS));
      String rest = Text.cut(rest(verdict), width - task - source - STATUS - 3);
      lines.add(line(task(verdict), source(verdict), status, paint.apply(Ansi.DIM, rest)));
    }
    return lines;
  }

  private String line(String name, String from, String status, String rest) {
    return String.join(
            " ",
            Text.left(Text.cutMiddle(name, task), task),
            Text.left(Text.cutMiddle(from, source), source),
            status,
            rest)
        .stripTrailing();
  }

  private static String rest(Verdict verdict) {
    String reason = Table.reason(verdict);
    var speedup = verdict.judgement().speedup();
    if (speedup == null) return reason;
    return String.format(Locale.ROOT, "%.2f× %s", speedup.value(), reason).strip();
  }

  private String task(Verdict verdict) {
    String name = VerdictRow.of(verdict).name();
    return Text.clean(categories ? name : name.substring(name.indexOf('/') + 1));
  }

  private String source(Verdict verdict) {
    Path path = Path.of(verdict.provenance().source());
    boolean below = !common.toString().isEmpty() && path.startsWith(common);
    return Text.clean((below ? common.relativize(path) : path).toString());
  }
}
