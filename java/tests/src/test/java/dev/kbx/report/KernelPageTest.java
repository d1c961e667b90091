package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.document.Document;
import dev.kbx.section.KernelDocument;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One kernel as {@code kbx report --candidate} writes it for a browser. */
class KernelPageTest extends BrowserTest {
  private static Verdict example(Status status) {
    return Fixtures.examples(Fixtures.H200).stream()
        .filter(verdict -> verdict.judgement().status() == status)
        .findFirst()
        .orElseThrow();
  }

  private Path page(Verdict verdict) throws IOException {
    RunInfo run = Fixtures.run(Fixtures.H200, 1, 20).labelled(new RunLabel("warm <script>", null));
    Document document = KernelDocument.of(run, verdict, Fixtures.source(verdict));
    return Files.writeString(folder.resolve("kernel.html"), DocumentPage.of(document));
  }

  @Test
  void failureHasItsLineAndItsElements() throws IOException {
    try (var shown = show(page(example(Status.RUNTIME_ERROR)), Screen.all().getFirst().options())) {
      assertThat(shown.page().locator("#line h2")).hasText("Line 17");
      assertThat(shown.page().locator("#line pre")).containsText("> 17 | ");
    }
    try (var shown = show(page(example(Status.WRONG_VALUES)), Screen.all().getFirst().options())) {
      assertThat(shown.page().locator("#table-wrong-elements")).containsText("-0.1586552560");
      assertThat(shown.page().locator("#conditions table")).isHidden();
    }
  }

  @Test
  void weightedSizesHaveBothMeans() throws IOException {
    Verdict timed = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2);
    try (var shown = show(page(Fixtures.weighted(timed)), Screen.all().getFirst().options())) {
      assertThat(shown.page().locator("#result"))
          .containsText(
              "Against eager, of the total time of 3 sizes; their geometric mean is"
                  + " 1.25× [1.20–1.30].");
      assertThat(shown.page().locator("#table-timings")).containsText("30.0 %");
    }
    try (var shown = show(page(timed), Screen.all().getFirst().options())) {
      assertThat(shown.page().locator("#result")).containsText("geometric mean of 3 sizes.");
    }
  }

  @Test
  void axeFindsNoViolationsOnEveryScreen() throws IOException {
    for (Status status : List.of(Status.CORRECT, Status.RUNTIME_ERROR, Status.WRONG_VALUES)) {
      Path page = page(example(status));
      for (Screen screen : Screen.all()) {
        try (var shown = show(page, screen.options())) {
          assertThat(shown.violations()).as("%s on %s", status, screen).isEmpty();
          assertThat(shown.fits()).as("%s on %s", status, screen).isTrue();
          assertThat(shown.showsAllColumns()).as("%s on %s", status, screen).isTrue();
          shown.picture("kernel-" + status.label() + "-" + screen, shown.page());
        }
      }
    }
  }
}
