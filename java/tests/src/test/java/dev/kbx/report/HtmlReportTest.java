package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The report of a run in a real browser. */
class HtmlReportTest extends BrowserTest {
  /** Types into the search; what that cost, whatever the browser's speed. */
  private static final String SEARCHING =
      """
      (text) => {
        const calls = { elements: 0, lowered: 0 };
        const [create, lower] = [document.createElement, String.prototype.toLowerCase];
        document.createElement = function (name) { calls.elements++; return create.call(document, name); };
        String.prototype.toLowerCase = function () { calls.lowered++; return lower.call(this); };
        const box = document.getElementById("q");
        box.value = text;
        box.dispatchEvent(new Event("input"));
        document.createElement = create;
        String.prototype.toLowerCase = lower;
        return calls;
      }
      """;

  @Test
  void runWithoutGpuNamesUnmeasuredFigures() throws IOException {
    try (var shown =
        show(Fixtures.examples(Fixtures.CPU), Fixtures.CPU, new Browser.NewContextOptions())) {
      Page page = shown.page();
      assertThat(page.locator("h1")).hasText("16 of 17 tasks tried have a correct candidate");
      assertThat(page.locator("#not-measured"))
          .hasText("Performance was not measured: this run used no GPU.");
      assertThat(page.locator(".tile", new Page.LocatorOptions().setHasText("Timed")))
          .containsText("not measured");
      Locator correct = page.locator(".tile", new Page.LocatorOptions().setHasText("Correct"));
      assertThat(correct).containsText("94.1 %");
      assertThat(correct).containsText("16 of 17 tasks tried");
      assertThat(correct).containsText("95 % interval [73–99]");
      assertThat(correct).containsText("16 of 25 candidates judged, 64.0 %");
      assertThat(page.locator("#table-by-category tr").last()).containsText("16/17");
      assertThat(page.locator(".verdicts tr.row")).hasCount(26);
      assertThat(page.locator(".verdicts thead")).not().containsText("Speedup");
      Locator category =
          page.locator("#table-by-category tr", new Page.LocatorOptions().setHasText("Activation"));
      assertThat(category).containsText("2/5 40.0 % [12–77]");
      Locator gelu = open(page, "Activation/gelu");
      assertThat(gelu).containsText("not measured: no GPU");
      assertThat(gelu).containsText("reduce_kernel");
      shown.picture("laptop-light", page);
    }
  }

  @Test
  void namedFileIsShownWithItsDetails() throws IOException {
    List<Verdict> one = List.of(Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2));
    var run = Fixtures.run(Fixtures.H200, 1, 20, List.of("exp.py"));
    try (var shown = show(one, run, new Browser.NewContextOptions())) {
      Page page = shown.page();
      assertThat(page.locator("h1")).hasText("Math/exp: correct");
      assertThat(page.locator(".tile")).hasCount(2);
      assertThat(page.locator(".tile").last()).containsText("1.10×95 % interval [1.08–1.12]");
      assertThat(page.locator("#categories")).hasCount(0);
      assertThat(page.locator(".details")).containsText("(2048, 4096) float32");
      shown.picture("file-light", page);
    }
  }

  @Test
  void detailsShowWhyACandidateFailed() throws IOException {
    try (var shown =
        show(Fixtures.examples(Fixtures.CPU), Fixtures.CPU, new Browser.NewContextOptions())) {
      Page page = shown.page();
      Locator wrong = open(page, "Activation/gelu#1");
      assertThat(wrong).containsText("21 of 1,003 elements are wrong");
      assertThat(wrong).containsText("[16, 38]");
      assertThat(wrong).containsText("-0.1586552560");
      assertThat(wrong).containsText("48,211");
      assertThat(wrong.locator(".code-line")).hasCount(20);
      Locator raised = open(page, "Fusion/fused_add_rms_norm#1");
      assertThat(raised.locator(".failing")).hasAttribute("data-line", "17");
      assertThat(page).hasURL(Pattern.compile(".*#candidate=Fusion%2Ffused_add_rms_norm%231"));
      page.reload();
      assertThat(page.locator(".details")).hasCount(1);
      assertThat(page.locator(".details .failing")).isInViewport();
      shown.picture("details-light", page);
    }
  }

  @Test
  void timingsHaveIntervals() throws IOException {
    var dark = new Browser.NewContextOptions().setColorScheme(ColorScheme.DARK);
    try (var shown = show(Fixtures.examples(Fixtures.H200), Fixtures.H200, dark)) {
      Page page = shown.page();
      assertThat(page.locator("#not-measured")).hasCount(0);
      Locator silu = open(page, "Activation/silu");
      assertThat(silu).containsText("0.85× against eager");
      assertThat(silu).containsText("interval 0.83–0.87×");
      assertThat(silu).containsText("(2048, 4096) float32");
      assertThat(silu.locator("th", new Locator.LocatorOptions().setHasText("MFU"))).hasCount(0);
      assertThat(silu).containsText("0.0099 ms, memory");
      assertThat(silu).containsText("sw_power_cap");
      assertThat(silu).containsText("compile ms");
      assertThat(silu).containsText("0.67–0.69×2026-11-19 21:14 UTC");
      assertThat(silu).containsText("it is wrong");
      assertThat(silu).containsText("Profile at (3072, 4096) float32");
      assertThat(silu).containsText("89 % of 100 %");
      assertThat(silu).containsText("wait, 61 %");
      Locator fast = open(page, "Math/exp");
      assertThat(fast).not().containsText("compile ms");
      assertThat(fast).containsText("Profilencu (exit code 1): </script>");
      shown.picture("laptop-dark", page);
    }
  }

  @Test
  void weightedSizesHaveBothMeans() throws IOException {
    List<Verdict> one =
        List.of(Fixtures.weighted(Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2)));
    var run = Fixtures.run(Fixtures.H200, 1, 20, List.of("exp.py"));
    try (var shown = show(one, run, new Browser.NewContextOptions())) {
      Locator details = shown.page().locator(".details");
      assertThat(details)
          .containsText(
              "1.10× against eager, of the total time over 3 sizes; 95 % interval 1.08–1.12×."
                  + " Without weights 1.25×, geometric mean over 3 sizes; 95 % interval"
                  + " 1.20–1.30×");
      assertThat(details).containsText("waits for the host30.0 %");
    }
  }

  @Test
  void hostileTextIsEscaped() throws IOException {
    List<Verdict> verdicts = new ArrayList<>(Fixtures.examples(Fixtures.CPU));
    verdicts.add(
        Fixtures.failed("Math/" + Fixtures.HOSTILE, 0, Status.CRASHED, Stage.CALL)
            .message(Fixtures.HOSTILE + "\ud800")
            .build(Fixtures.CPU));
    for (boolean script : List.of(true, false)) {
      var options = new Browser.NewContextOptions().setJavaScriptEnabled(script);
      try (var shown = show(verdicts, Fixtures.CPU, options)) {
        Page page = shown.page();
        assertThat(page).hasTitle("kbx 20261121T063501-kqzp");
        if (script) {
          Locator cheat = open(page, "Activation/gelu#2");
          assertThat(cheat.locator(".output")).containsText("</script><script>");
          assertThat(cheat.locator(".source")).containsText("onerror=");
          assertThat(cheat.locator(".source")).containsText("⟦U+202E⟧evil");
        }
        assertThat(page.locator("img")).hasCount(0);
        assertThat(page).hasTitle("kbx 20261121T063501-kqzp");
      }
    }
  }

  @Test
  void rowsSortAndFilterByKeyboard() throws IOException {
    try (var shown =
        show(Fixtures.examples(Fixtures.H200), Fixtures.H200, new Browser.NewContextOptions())) {
      Page page = shown.page();
      assertThat(page.locator("th.col-task")).hasAttribute("aria-sort", "ascending");
      Locator speedup = page.locator("th.col-speedup button");
      speedup.focus();
      page.keyboard().press("Enter");
      page.keyboard().press("Enter");
      assertThat(page.locator("th.col-speedup")).hasAttribute("aria-sort", "descending");
      assertThat(page.locator("th.col-task"))
          .not()
          .hasAttribute("aria-sort", Pattern.compile(".*"));
      assertThat(page.locator("td.col-speedup").first()).hasText("2.60×");
      assertThat(page.locator("td.col-speedup").last()).hasText("");
      page.locator("#q").fill("math exp.py");
      assertThat(page.locator("#shown")).hasText("1 of 26");
      page.locator(".opener").focus();
      page.keyboard().press("Enter");
      assertThat(page.locator(".opener")).hasAttribute("aria-expanded", "true");
      page.keyboard().press("Space");
      assertThat(page.locator(".details")).hasCount(0);
      page.locator("#q").fill("no such thing");
      assertThat(page.locator(".none")).hasText("No candidate matches.");
      page.locator("#q").fill("");
      page.locator("#table-statuses a", new Page.LocatorOptions().setHasText("timeout")).click();
      assertThat(page.locator(".verdicts tr.row")).hasCount(1);
    }
  }

  @Test
  void tenThousandCandidatesStayUsable() throws IOException {
    List<Verdict> verdicts = Fixtures.many(10_000, Fixtures.CPU);
    try (var shown = show(verdicts, Fixtures.CPU, new Browser.NewContextOptions())) {
      Page page = shown.page();
      Locator rows = page.locator(".verdicts tr.row");
      assertThat(page.locator("#shown")).hasText("10,000 candidates");
      page.locator("#candidates").scrollIntoViewIfNeeded();
      assertThat(rows.first()).isVisible();
      assertThat(rows.count()).isBetween(50, 300);
      page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      assertThat(page.locator(".opener").last()).hasText("Reduce/sum#2499");
      assertThat(rows.count()).isLessThan(500);
      Map<?, ?> calls = (Map<?, ?>) page.evaluate(SEARCHING, "candidate 4");
      assertThat(page.locator("#shown")).containsText("of 10,000");
      assertThat((Integer) calls.get("elements")).isLessThan(5_000);
      assertThat(calls.get("lowered")).as("what was typed").isEqualTo(1);
      page.locator("#q").fill("");
      // It searches a little later.
      assertThat(page.locator("#shown")).hasText("10,000 candidates");
      page.evaluate("dispatchEvent(new Event('beforeprint'))");
      assertThat(rows).hasCount(10_000);
    }
  }

  @Test
  void withoutScriptsHeaderTalliesAndVerdictsRemain() throws IOException {
    var options = new Browser.NewContextOptions().setJavaScriptEnabled(false);
    try (var shown = show(Fixtures.examples(Fixtures.CPU), Fixtures.CPU, options)) {
      Page page = shown.page();
      assertThat(page.locator("h1")).isVisible();
      assertThat(page.locator("#table-statuses tbody tr")).hasCount(11);
      assertThat(page.locator(".plain tbody tr")).hasCount(26);
      assertThat(page.locator("#candidates")).isHidden();
      shown.picture("no-script", page);
    }
  }

  @Test
  void phonePageFitsTheScreen() throws IOException {
    for (var scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
      var phone =
          new Browser.NewContextOptions()
              .setViewportSize(390, 844)
              .setDeviceScaleFactor(2)
              .setColorScheme(scheme);
      try (var shown = show(Fixtures.examples(Fixtures.H200), Fixtures.H200, phone)) {
        Page page = shown.page();
        open(page, "Activation/gelu#1");
        assertThat(open(page, "Activation/silu").locator("> td")).hasAttribute("colspan", "2");
        assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(390);
        assertThat(shown.violations()).isEmpty();
        assertThat(page.locator(".under", new Page.LocatorOptions().setHasText("21 of 1,003")))
            .isVisible();
        shown.picture("phone-" + (scheme == ColorScheme.LIGHT ? "light" : "dark"), page);
      }
    }
  }

  @Test
  void axeFindsNoViolationsOnALaptopNorOfOneKernel() throws IOException {
    Verdict timed = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2);
    var file = Fixtures.run(Fixtures.H200, 1, 20, List.of("exp.py"));
    for (Screen screen : Screen.all()) {
      try (var shown = show(List.of(timed), file, screen.options())) {
        assertThat(shown.page().locator(".panel")).isVisible();
        assertThat(shown.violations()).as("one kernel on %s", screen).isEmpty();
        assertThat(shown.fits()).isTrue();
        assertThat(shown.showsAllColumns()).as("one kernel on %s", screen).isTrue();
        shown.picture("one-" + screen, shown.page());
      }
      if (screen.width() < 1000) continue;
      try (var shown = show(Fixtures.examples(Fixtures.H200), Fixtures.H200, screen.options())) {
        open(shown.page(), "Activation/gelu#1");
        open(shown.page(), "Activation/silu");
        assertThat(shown.violations()).as("report on %s", screen).isEmpty();
        assertThat(shown.fits()).isTrue();
      }
    }
  }

  private Shown show(
      List<Verdict> verdicts, Verdict.Device device, Browser.NewContextOptions options)
      throws IOException {
    return show(verdicts, Fixtures.run(device, verdicts.size(), 20), options);
  }

  private Shown show(List<Verdict> verdicts, RunInfo run, Browser.NewContextOptions options)
      throws IOException {
    try (var files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(verdicts),
          Fixtures.asked(run, verdicts),
          Fixtures::source,
          List.of("predictions.jsonl:3: no such task: Math/sqrtt"),
          null);
      return show(files.report(), options);
    }
  }

  /** The details of a candidate, opened. */
  private static Locator open(Page page, String name) {
    Locator opener =
        page.locator(".opener")
            .filter(new Locator.FilterOptions().setHasText(Pattern.compile("^" + name + "$")));
    opener.click();
    return page.locator("tr.details[data-candidate='%s']".formatted(name));
  }
}
