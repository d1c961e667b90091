package dev.kbx.report;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.document.Counted;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.section.ComparisonSection;
import dev.kbx.section.ComparisonSection.Kind;
import dev.kbx.verdict.RunInfo;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Two runs on one page: what became right or wrong, faster or slower, and what changed in the
 * sources. It needs no script.
 *
 * @param sources of the candidates that {@link #wanted} names, by hash
 */
public record ComparisonPage(Comparison comparison, Map<String, String> sources) {
  /** Changed candidates whose sources are compared. */
  private static final int MOST_DIFFS = 300;

  /** Hashes of the candidates whose sources the page shows. */
  public static Set<String> wanted(Comparison comparison) {
    Set<String> wanted = new TreeSet<>();
    for (Row row : comparison.candidates()) {
      if (!hasDiff(row)) continue;
      if (wanted.size() >= 2 * MOST_DIFFS) break;
      wanted.add(row.then().candidate());
      wanted.add(row.now().candidate());
    }
    return wanted;
  }

  /** Whether the page says what its source changed, if there is room. */
  private static boolean hasDiff(Row row) {
    return Kind.of(row) != Kind.OTHER
        && !row.sameSource()
        && !row.then().candidate().isEmpty()
        && !row.now().candidate().isEmpty();
  }

  /** Writes the page; throws {@link UnwritableException}. */
  public void write(Path file) {
    AtomicFile.replace(file, writer -> Html.Template.fill("comparison.html", writer, this::fill));
  }

  /** Writes its content, without title, for a page with the same style. */
  public void content(Writer writer) throws IOException {
    writer.write("<dl class=\"facts\">\n");
    facts(writer);
    writer.write("</dl>\n");
    notes(writer);
    sections(writer);
  }

  /** What became right and wrong, in a line: of tasks, and of candidates where these are more. */
  public String headline() {
    TaskOutcomes tasks = comparison.tasks();
    String ofTasks =
        "%d rescued, %d regressed of %s"
            .formatted(tasks.rescued(), tasks.regressed(), Counted.of(tasks.compared(), "task"));
    int candidates = comparison.candidates().size();
    if (candidates <= tasks.compared()) return ofTasks;
    return "%s; of %d candidates %d rescued, %d regressed"
        .formatted(
            ofTasks,
            candidates,
            comparison.candidates(TaskOutcomes.Transition.RESCUED),
            comparison.candidates(TaskOutcomes.Transition.REGRESSED));
  }

  private void fill(Writer writer, String hole) throws IOException {
    switch (hole) {
      case "runs" ->
          writer.write(Html.escape(comparison.then().id() + " → " + comparison.now().id()));
      case "headline" -> writer.write(headline());
      case "facts" -> facts(writer);
      case "notes" -> notes(writer);
      case "sections" -> sections(writer);
      default -> throw new IllegalStateException("unknown placeholder: " + hole);
    }
  }

  private void sections(Writer writer) throws IOException {
    for (Section section : ComparisonSection.page(comparison, this::changes)) {
      writer.write(HtmlRenderer.render(section));
    }
  }

  private @Nullable String changes(Row row) {
    String then = sources.get(row.then().candidate());
    String now = sources.get(row.now().candidate());
    return row.sameSource() || then == null || now == null ? null : new LineDiff(then, now).hunks();
  }

  private void facts(Writer writer) throws IOException {
    run(writer, "Then", comparison.then(), comparison.judgedThen());
    run(writer, "Now", comparison.now(), comparison.judgedNow());
    for (var entry : comparison.changed().entrySet()) {
      Html.fact(writer, entry.getKey() + " changed", ComparisonSection.change(entry.getValue()));
    }
  }

  private static void run(Writer writer, String name, RunInfo run, int judged) throws IOException {
    String what =
        "%s · %s · %s".formatted(run.title(), Counted.of(judged, "candidate"), run.device().name());
    Html.fact(writer, name, what);
  }

  private void notes(Writer writer) throws IOException {
    for (RunInfo run : List.of(comparison.then(), comparison.now())) {
      String published = Notes.asPublished(run);
      if (published != null) note(writer, "Run %s: %s".formatted(run.id(), published));
    }
    for (var entry : comparison.untimed().entrySet()) {
      note(writer, "Run %s: %s.".formatted(entry.getKey(), entry.getValue()));
    }
    long left = leftOut();
    if (left > 0) {
      note(
          writer,
          "The page has no changes of the source for %,d more changed candidates; its limit is %,d."
              .formatted(left, MOST_DIFFS));
    }
    int without = comparison.onlyThen() + comparison.onlyNow();
    if (without > 0) {
      note(
          writer,
          "Without a partner in the other run: %d of the first, %d of the second."
              .formatted(comparison.onlyThen(), comparison.onlyNow()));
    }
  }

  private static void note(Writer writer, String text) throws IOException {
    writer.write("<p class=\"note\">" + Html.escape(text) + "</p>\n");
  }

  /** Number of candidates whose sources differ and are not compared, as they are too many. */
  private long leftOut() {
    Set<String> wanted = wanted(comparison);
    return comparison.candidates().stream()
        .filter(ComparisonPage::hasDiff)
        .filter(row ->
            !wanted.contains(row.then().candidate()) || !wanted.contains(row.now().candidate()))
        .count();
  }
}
