package dev.kbx.report;

import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.Severity;
import dev.kbx.syntax.Place;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Findings of {@code kbx check} as one JSON document. */
public final class CheckJson {
  private CheckJson() {}

  record Document(
      String kbx,
      List<Source> sources,
      List<String> problems,
      long broken,
      long rejections,
      long flags,
      long notes,
      double seconds) {}

  record Source(
      String file,
      @Nullable Integer row,
      @Nullable String task,
      @Nullable Fault broken,
      List<Found> findings) {}

  /** Columns count characters from 1; the end column is exclusive. */
  record Fault(Status status, int line, int column, int endColumn, String message) {}

  record Found(
      String rule,
      Severity severity,
      int line,
      int column,
      int endColumn,
      String message,
      String advice) {}

  /**
   * The document's text.
   *
   * @param version of kbx
   */
  public static String render(Checks checks, String version) {
    return Json.mapper()
        .writerWithDefaultPrettyPrinter()
        .writeValueAsString(
            new Document(
                version,
                checks.sources().stream().map(each -> source(each, checks.least())).toList(),
                checks.problems(),
                checks.broken(),
                checks.count(Severity.REJECT),
                checks.count(Severity.FLAG),
                checks.count(Severity.NOTE),
                checks.seconds()));
  }

  private static Source source(Checks.Checked source, Severity least) {
    return new Source(
        source.file(),
        source.row(),
        source.task(),
        source.report().broken().map(CheckJson::fault).orElse(null),
        source.findings(least).stream().map(CheckJson::found).toList());
  }

  private static Fault fault(InvalidSource broken) {
    Place place = broken.place();
    return new Fault(broken.status(), place.line(), place.column(), place.end(), broken.message());
  }

  private static Found found(Finding finding) {
    Place place = finding.place();
    return new Found(
        finding.rule(),
        finding.severity(),
        place.line(),
        place.column(),
        place.end(),
        finding.message(),
        finding.advice());
  }
}
