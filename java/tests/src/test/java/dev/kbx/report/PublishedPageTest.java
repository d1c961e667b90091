package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The page of a run that holds published results, in a real browser. */
class PublishedPageTest extends BrowserTest {
  private Shown show() throws IOException {
    List<Verdict> verdicts =
        List.of(
            PublishedResults.correct("Math/exp", 0, 1.2),
            PublishedResults.correct("Math/exp", 1, 1.5),
            PublishedResults.wrong("Activation/gelu", 0));
    RunInfo run = PublishedResults.run(verdicts.size());
    try (ResultFiles files = new ResultFiles(folder)) {
      files.finish(
          run, RunVerdicts.of(verdicts), Fixtures.asked(run, verdicts), _ -> "", List.of(), null);
      return show(files.report(), new Browser.NewContextOptions());
    }
  }

  @Test
  void speedupWithoutIntervalIsShownAlone() throws IOException {
    try (var shown = show()) {
      Page page = shown.page();
      assertThat(page.locator("td.col-speedup").nth(1)).hasText("1.20×");
      assertThat(page.locator(".whisker")).hasCount(0);
      page.locator("#speed").scrollIntoViewIfNeeded();
      assertThat(page.locator("#sorted [role=img]"))
          .hasAttribute("aria-label", "Speedups of 2 correct candidates");
      Object points =
          page.evaluate(
              """
              () => echarts.getInstanceByDom(document.querySelector("#sorted .canvas")).getOption()
                .series.flatMap((s) => s.data).map((d) => d.says ?? "").join(";")
              """);
      assertThat(String.valueOf(points)).contains("1.20×").doesNotContain("[", "922337");
      assertThat(shown.violations()).isEmpty();
    }
  }

  @Test
  void aRoundWithoutAKernelIsNotCalledTheSameSource() throws IOException {
    try (var shown = show()) {
      Page page = shown.page();
      page.locator("#round").selectOption("1");
      page.locator(".opener").click();
      assertThat(page.locator(".changed")).containsText("not published");
      assertThat(page.locator(".changed")).not().containsText("the same source");
    }
  }

  @Test
  void publishedPageDoesNotSayJudged() throws IOException {
    try (var shown = show()) {
      Page page = shown.page();
      Locator correct = page.locator(".tile", new Page.LocatorOptions().setHasText("Correct"));
      assertThat(correct).hasCount(0); // a share of tasks in which something happened is no rate
      page.locator(".opener").first().click();
      Locator details = page.locator(".details");
      assertThat(details).containsText("No kernel was published with this result.");
      page.locator(".opener").last().click();
      assertThat(page.locator(".details").first()).containsText("no speedup is published");
      page.locator("#status").selectOption("correct");
      page.locator(".opener").first().click();
      assertThat(page.locator(".details").first()).containsText("1.20×, as published");
      assertThat(page.locator("main")).not().containsText("judged");
      assertThat(page.locator("[aria-label*=judged]")).hasCount(0);
    }
  }
}
