package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.NamedRun;
import dev.kbx.app.PublishedRuns;
import dev.kbx.app.ResultsFolder;
import dev.kbx.document.Document;
import dev.kbx.document.MarkdownRenderer;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.document.Text;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.paper.DataFiles;
import dev.kbx.paper.LatexReport;
import dev.kbx.paper.MarkdownReport;
import dev.kbx.paper.Publication;
import dev.kbx.report.DocumentPage;
import dev.kbx.verdict.Json;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx report [RUN…]}: runs as tables, figures and data for publication. */
@Command(
    name = "report",
    description = "Runs as a page, tables and figures for a paper, or data for other tools.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "html      the page of one run",
      "md        tables in Markdown, and how they were measured; of a run of one",
      "          candidate what a reviewer needs of it, to paste into a pull request",
      "text      the same of one candidate, for a terminal",
      "json      all analyses in one document",
      "latex     DIR/main.tex, which compiles, its tables and figures, also as SVG",
      "csv       DIR/verdicts.csv and DIR/sizes.csv: every verdict, every timed size",
      "parquet   the same as Parquet",
      "",
      "md, text and json go to stdout without --output. Several runs are one set of",
      "candidates."
    })
final class ReportCommand implements Callable<Integer> {
  /** What can be written. */
  private enum Format {
    HTML("kbx-report.html", false),
    MD(null, false),
    TEXT(null, false),
    JSON(null, false),
    LATEX("kbx-report", true),
    CSV("kbx-report", true),
    PARQUET("kbx-report", true);

    private final @Nullable String target;
    private final boolean folder;

    /**
     * @param target where it is written if nothing is named; null for stdout
     * @param folder whether it is several files
     */
    Format(@Nullable String target, boolean folder) {
      this.target = target;
      this.folder = folder;
    }

    static Format of(String name) {
      for (Format format : values()) if (format.label().equals(name)) return format;
      throw new InputException(
          "--format: no format '%s'; there are %s"
              .formatted(
                  name,
                  Arrays.stream(values()).map(Format::label).collect(Collectors.joining(", "))));
    }

    /** Whether it can be of one candidate. */
    boolean hasKernels() {
      return this == HTML || this == MD || this == TEXT;
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = NamedRun.HELP + " Without one, the newest complete run in --out.")
  private List<String> runs = List.of();

  @Mixin private Options.Results results = new Options.Results();

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "html",
      description = "html, md, text, json, latex, csv or parquet. Default: ${DEFAULT-VALUE}.")
  private String format = "html";

  @Option(
      names = "--candidate",
      paramLabel = "WHICH",
      description =
          "One candidate of the run, as html, md or text: its task, the path of its file, or the"
              + " first digits of its hash.")
  private @Nullable String candidate;

  @Option(
      names = "--output",
      paramLabel = "PATH",
      description =
          "The file to write; for latex, csv and parquet a folder. Default: kbx-report.html,"
              + " kbx-report.")
  private @Nullable Path output;

  @Override
  public Integer call() {
    Format wanted = Format.of(format);
    if (wanted == Format.PARQUET && !DataFiles.hasParquet()) {
      throw new InputException(
          "--format parquet: this bundle has no Parquet; use csv here, or parquet in a checkout");
    }
    if (candidate != null && !wanted.hasKernels()) {
      throw new InputException("--candidate: goes with --format html, md or text");
    }
    Path target = target(wanted);
    PublishedRuns published =
        PublishedRuns.of(Home.here(), Terminal.noiseFloors(), runs, results.folder());
    switch (wanted) {
      case HTML -> page(published, named(target));
      case MD -> text(target, markdown(published));
      case TEXT -> text(target, screen(published.kernel(candidate)));
      case JSON -> text(target, json(published.publication()));
      case LATEX -> LatexReport.write(published.publication(), named(target));
      case CSV -> new DataFiles(named(target)).csv(published::forEach);
      case PARQUET -> new DataFiles(named(target)).parquet(published::forEach);
    }
    if (target != null)
      System.out.println(wanted == Format.LATEX ? target.resolve("main.tex") : target);
    return ExitCode.OK;
  }

  private void page(PublishedRuns published, Path target) {
    if (candidate == null) published.page(target);
    else text(target, DocumentPage.of(published.kernel(candidate)));
  }

  private String markdown(PublishedRuns published) {
    return candidate != null || published.isOneKernel()
        ? MarkdownRenderer.render(published.kernel(candidate))
        : MarkdownReport.of(published.publication());
  }

  private static String screen(Document kernel) {
    return "%s\n\n%s"
        .formatted(
            Text.clean(kernel.title()),
            new TerminalRenderer(Terminal.columns()).render(kernel.brief()));
  }

  /** Where to write; null for stdout. Checked before runs are read. */
  private @Nullable Path target(Format wanted) {
    Path named = output;
    if (named == null) {
      if (wanted.target == null) return null;
      named = Path.of(wanted.target);
    }
    String name = "--output " + named;
    if (wanted.folder) return ResultsFolder.writable(name, named);
    return ResultsFolder.file(name, named, "." + (wanted == Format.TEXT ? "txt" : wanted.label()));
  }

  private static Path named(@Nullable Path target) {
    if (target == null) throw new IllegalStateException("the format has a default");
    return target;
  }

  private static String json(Publication publication) {
    return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(publication) + "\n";
  }

  private static void text(@Nullable Path target, String text) {
    if (target == null) System.out.print(text);
    else AtomicFile.replace(target, writer -> writer.write(text));
  }
}
