package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The report of a run with several methods and models in a real browser. */
class MakersPageTest extends BrowserTest {
  private Shown show(Browser.NewContextOptions options) throws IOException {
    List<Verdict> verdicts = Made.several();
    RunInfo run = Fixtures.run(Fixtures.H200, verdicts.size(), 20);
    try (ResultFiles files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(verdicts),
          Fixtures.asked(run, verdicts),
          v ->
              Fixtures.source(v)
                  .replace("1024", String.valueOf(v.judgement().stage().label().length())),
          List.of(),
          null);
      return show(files.report(), options);
    }
  }

  private static Browser.NewContextOptions wide() {
    return new Browser.NewContextOptions().setViewportSize(1400, 900);
  }

  @Test
  void methodsAndModelsAreNeverMixed() throws IOException {
    try (var shown = show(wide())) {
      Page page = shown.page();
      assertThat(page.locator("h1")).containsText("of 17 tasks");
      assertThat(page.locator(".tile")).hasCount(0);
      assertThat(page.locator("#table-rates tbody tr")).hasCount(4);
      assertThat(page.locator("#table-ranking tbody tr")).hasCount(4);
      assertThat(page.locator(".lead")).containsText("Tried: 17 of 20 tasks.");
      assertThat(page.locator("#table-rates tbody tr").last()).containsText("single");
      assertThat(page.locator("#table-rates tbody tr").last().locator("td").nth(1)).hasText("25");
      assertThat(page.locator("#table-ranking .whisker").first()).isVisible();
      assertThat(page.locator("#table-where thead th")).hasCount(6);
      assertThat(page.locator("#table-categories")).not().isVisible();
      assertThat(page.locator("th.col-method")).isVisible();
      assertThat(page.locator("th.col-model")).isVisible();
      assertThat(page.locator(".verdicts tr.row").first()).containsText("single");
      shown.picture("makers-light", page);
    }
  }

  @Test
  void categoryCellFiltersCandidatesAndBackRestoresAll() throws IOException {
    try (var shown = show(wide())) {
      Page page = shown.page();
      Locator rows = page.locator(".verdicts tr.row");
      assertThat(rows).hasCount(104);
      Locator math = page.locator("#table-where tr", new Page.LocatorOptions().setHasText("Math"));
      math.first().locator("a[href*='method=single'][href*='gpt-5']").click();
      assertThat(page.locator("#shown")).hasText("4 of 104");
      assertThat(page.locator("#category")).hasValue("Math");
      assertThat(page.locator("#method")).hasValue("single");
      assertThat(page.locator("#model")).hasValue("openai:gpt-5");
      page.locator("#status").selectOption("crashed");
      assertThat(rows).hasCount(1);
      page.reload();
      assertThat(rows).hasCount(1);
      page.goBack();
      assertThat(rows).hasCount(4);
      page.goBack();
      assertThat(rows).hasCount(104);
      page.locator("th.col-speedup button").click();
      assertThat(page).hasURL(Pattern.compile(".*#sort=speedup"));
      page.goBack();
      assertThat(page.locator("th.col-task")).hasAttribute("aria-sort", "ascending");
      page.locator("#table-errors a").first().click();
      assertThat(page.locator("#reset")).isVisible();
      page.locator("#reset").click();
      assertThat(rows).hasCount(104);
    }
  }

  @Test
  void eachCandidateHasItsOwnAddress() throws IOException {
    try (var shown = show(wide())) {
      Page page = shown.page();
      var addresses = new HashSet<String>();
      for (int i = 0; i < 12; i++) {
        Locator row = page.locator(".verdicts tr.row").nth(i);
        row.locator(".opener").click();
        addresses.add(page.url());
        String reached = (String) page.evaluate("decodeURIComponent(location.hash)");
        assertThat(reached.replace('+', ' ')).contains(row.locator(".col-method").innerText());
        row.locator(".opener").click();
      }
      assertThat(addresses).hasSize(12);
      String last = List.copyOf(addresses).getLast();
      page.navigate("about:blank");
      page.navigate(last);
      assertThat(page.locator(".details")).hasCount(1);
      assertThat(page.locator(".details .panel")).isInViewport();
    }
  }

  @Test
  void roundShowsItsDiffAndThePreviousFeedback() throws IOException {
    try (var shown = show(wide())) {
      Page page = shown.page();
      page.locator("#method").selectOption("refine");
      page.locator("#model").selectOption("openai:gpt-5");
      page.locator("#round").selectOption("2");
      page.locator(".opener").first().click();
      Locator changed = page.locator(".changed");
      assertThat(changed).containsText("Found in round 1");
      assertThat(changed).containsText("the tail block is left out");
      assertThat(changed.locator(".removed").first()).containsText("-");
      assertThat(changed.locator(".added").first()).containsText("+");
      assertThat(page.locator(".source .keyword").first()).hasText("import");
      shown.picture("makers-round", page);
    }
  }

  @Test
  void chartPointOpensItsCandidate() throws IOException {
    try (var shown = show(wide())) {
      Page page = shown.page();
      page.locator("#speed").scrollIntoViewIfNeeded();
      assertThat(page.locator("#roofline canvas")).isVisible();
      assertThat(page.locator("#roofline [role=img]"))
          .hasAttribute("aria-label", "Roofline with 64 candidates");
      page.locator("#method").selectOption("refine");
      assertThat(page.locator("#sorted [role=img]"))
          .hasAttribute("aria-label", "Speedups of 32 correct candidates");
      page.locator("#method").selectOption("");
      // The library's own account of where a point is.
      double[] at = new double[2];
      List<?> pixel =
          (List<?>)
              page.evaluate(
                  """
                  () => {
                    const chart = echarts.getInstanceByDom(document.querySelector("#roofline .canvas"));
                    const index = chart.getOption().series.findIndex((s) => s.data[0]?.candidate);
                    return chart.convertToPixel({ seriesIndex: index }, chart.getOption().series[index].data[0].value);
                  }
                  """);
      for (int i = 0; i < 2; i++) at[i] = ((Number) pixel.get(i)).doubleValue();
      Locator canvas = page.locator("#roofline .canvas");
      canvas.hover(new Locator.HoverOptions().setPosition(at[0], at[1]));
      assertThat(page.locator("#roofline .at")).containsText("FLOP/byte");
      canvas.click(new Locator.ClickOptions().setPosition(at[0], at[1]));
      assertThat(page.locator(".details .panel")).isVisible();
      assertThat(page).hasURL(Pattern.compile(".*#candidate=.*"));
      shown.picture("makers-charts", page);
    }
  }

  @Test
  void axeFindsNoViolationsOnLaptopAndPhoneInLightAndDark() throws IOException {
    for (Screen screen : Screen.all()) {
      try (var shown = show(screen.options())) {
        Page page = shown.page();
        page.locator("#round").selectOption("1");
        page.locator(".opener").first().click();
        assertThat(page.locator(".panel")).isVisible();
        assertThat(shown.violations()).isEmpty();
        assertThat(shown.fits()).isTrue();
        shown.picture("makers-" + screen, page);
      }
    }
  }
}
