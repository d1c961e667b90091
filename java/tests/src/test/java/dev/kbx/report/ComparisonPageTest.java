package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two runs on one page in a real browser. */
class ComparisonPageTest extends BrowserTest {
  private static JudgedRun run(List<Verdict> verdicts) {
    RunInfo run = Fixtures.run(Fixtures.H200, verdicts.size(), 20);
    return new JudgedRun(run, VerdictRow.of(verdicts));
  }

  private Path write() {
    Verdict expThen = Fixtures.passed("Math/exp", 0, "exp 1", Fixtures.H200, 1);
    Verdict expNow = Fixtures.passed("Math/exp", 0, "exp 2", Fixtures.H200, 6);
    Verdict geluThen =
        Fixtures.failed("Activation/gelu", 0, Status.WRONG_VALUES, Stage.CORRECT)
            .build(Fixtures.H200);
    Verdict geluNow = Fixtures.passed("Activation/gelu", 0, "gelu", Fixtures.H200, 1);
    Comparison comparison =
        Comparison.of(run(List.of(expThen, geluThen)), run(List.of(expNow, geluNow)), List.of());
    Map<String, String> sources = new HashMap<>();
    for (Verdict verdict : List.of(expThen, expNow, geluThen, geluNow)) {
      if (ComparisonPage.wanted(comparison).contains(verdict.provenance().candidate())) {
        sources.put(verdict.provenance().candidate(), Fixtures.source(verdict));
      }
    }
    Path file = folder.resolve("compared.html");
    new ComparisonPage(comparison, sources).write(file);
    return file;
  }

  @Test
  void changedCandidatesComeFirst() throws IOException {
    try (var shown = show(write(), new Browser.NewContextOptions().setViewportSize(1400, 900))) {
      Page page = shown.page();
      assertThat(page.locator("h1")).hasText("1 rescued, 0 regressed of 2 tasks");
      assertThat(page.locator("section > h2").nth(2)).hasText("Rescued: 1 candidate");
      assertThat(page.locator("#faster tbody tr").first()).containsText("2.47×");
      page.locator("#faster summary").click();
      assertThat(page.locator("#faster .added")).hasText("+# exp 2");
      assertThat(page.locator("#table-by-category tbody tr").first()).containsText("1/1");
      shown.picture("compared-light", page);
    }
  }

  @Test
  void publishedRunsAreMarked() throws IOException {
    List<Verdict> then = List.of(PublishedResults.correct("Math/exp", 0, 1.2));
    JudgedRun published = new JudgedRun(PublishedResults.run(1), VerdictRow.of(then));
    Verdict now = Fixtures.passed("Math/exp", 0, "exp", Fixtures.H200, 1);
    Comparison comparison = Comparison.of(published, run(List.of(now)), List.of());
    Path file = folder.resolve("published.html");
    new ComparisonPage(comparison, Map.of()).write(file);
    assertThat(Files.readString(file))
        .containsOnlyOnce("As published")
        .contains("Run 20261122T081200-pblx: As published (kernelbenchx-corpus)");
  }

  @Test
  void changedFailureIsAChange() throws IOException {
    Verdict then = failed("Math/abs", Status.COMPILE_ERROR, Stage.COMPILE);
    Verdict now = failed("Math/abs", Status.WRONG_VALUES, Stage.CORRECT);
    Verdict same = failed("Math/exp", Status.TIMEOUT, Stage.CALL);
    Comparison comparison =
        Comparison.of(run(List.of(then, same)), run(List.of(now, same)), List.of());
    Path file = folder.resolve("otherwise.html");
    new ComparisonPage(comparison, Map.of()).write(file);
    assertThat(Files.readString(file))
        .contains("Correct in neither, with another status: 1 candidate")
        .contains("Unchanged, or not comparable: 1 candidate");
  }

  private static Verdict failed(String task, Status status, Stage stage) {
    return Fixtures.failed(task, 0, status, stage).build(Fixtures.H200);
  }

  @Test
  void changesThatDoNotFitAreCounted() throws IOException {
    List<Verdict> then = new ArrayList<>();
    List<Verdict> now = new ArrayList<>();
    for (int i = 0; i < 302; i++) {
      then.add(Fixtures.passed("Math/exp", i, "then " + i, Fixtures.H200, 1));
      now.add(Fixtures.passed("Math/exp", i, "now " + i, Fixtures.H200, 6));
    }
    Comparison comparison = Comparison.of(run(then), run(now), List.of());
    Map<String, String> sources = new HashMap<>();
    for (String hash : ComparisonPage.wanted(comparison)) sources.put(hash, hash);
    Path file = folder.resolve("many.html");
    new ComparisonPage(comparison, sources).write(file);
    String page = Files.readString(file);
    assertThat(page.split("<details>", -1)).hasSize(301);
    assertThat(page).contains("no changes of the source for 2 more changed candidates");
  }

  @Test
  void axeFindsNoViolationsOnLaptopAndPhoneInLightAndDark() throws IOException {
    Path file = write();
    for (Screen screen : Screen.all()) {
      try (var shown = show(file, screen.options())) {
        assertThat(shown.violations()).isEmpty();
        assertThat(shown.fits()).isTrue();
        shown.picture("compared-" + screen, shown.page());
      }
    }
  }
}
