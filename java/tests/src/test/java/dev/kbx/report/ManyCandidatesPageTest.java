package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a page of ten thousand candidates costs a browser; bench/page.sh prints it. */
@Tag("soak-only")
class ManyCandidatesPageTest extends BrowserTest {
  /** Whether its speed is asserted, too: by the benchmark, not where other tests run beside it. */
  private static final boolean TIMED = Boolean.getBoolean("kbx.page.timed");

  private static final int CANDIDATES = 10_000;
  private static final long MOST_BYTES = 15_000_000;
  private static final double MOST_SECONDS = 2;

  /**
   * Of the frames while it scrolls; Chromium draws without a GPU, on processors that others use.
   */
  private static final double MOST_LATE = 0.1;

  /** Milliseconds of a frame that the eye sees as a stop. */
  private static final double LATE = 50;

  /** Scrolls through the page, a third of a screen each frame; the time of each frame. */
  private static final String SCROLL =
      """
      () => new Promise((done) => {
        const times = [];
        let last = performance.now();
        const step = (now) => {
          times.push(now - last);
          last = now;
          scrollBy(0, innerHeight / 3);
          if (times.length < 600) requestAnimationFrame(step);
          else done(times.slice(1).sort((a, b) => a - b));
        };
        requestAnimationFrame(step);
      })
      """;

  private static List<String> kernels() throws IOException {
    List<String> kernels = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("corpus/honest"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).sorted().toList()) {
        kernels.add(Files.readString(file));
      }
    }
    return kernels;
  }

  /** A kernel of the corpus with a number of its own in many lines. */
  private static String source(List<String> kernels, Verdict verdict) {
    Random random = new Random(verdict.provenance().candidate().hashCode());
    String kernel =
        kernels.get(Math.floorMod(verdict.provenance().task().hashCode(), kernels.size()));
    StringBuilder source = new StringBuilder();
    for (String line : kernel.lines().toList()) {
      source.append(line);
      if (random.nextInt(4) == 0) source.append("  # ").append(Long.toHexString(random.nextLong()));
      source.append('\n');
    }
    return source.toString();
  }

  @Test
  void opensAndScrollsWithoutDelay() throws IOException {
    List<String> kernels = kernels();
    List<Verdict> verdicts = Fixtures.many(CANDIDATES, Fixtures.H200);
    RunInfo run = Fixtures.run(Fixtures.H200, verdicts.size(), 176);
    try (ResultFiles files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(verdicts),
          Fixtures.asked(run, verdicts),
          verdict -> source(kernels, verdict),
          List.of(),
          null);
      long bytes = Files.size(files.report());
      try (var shown = show(files.report(), new Browser.NewContextOptions())) {
        Page page = shown.page();
        assertThat(page.locator("#shown")).hasText("10,000 candidates");
        double open =
            ((Number) page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
                    .doubleValue()
                / 1e3;
        page.locator("#speed").scrollIntoViewIfNeeded();
        assertThat(page.locator("#sorted canvas")).isVisible();
        page.locator(".opener").nth(3).click();
        assertThat(page.locator(".source")).isVisible();
        page.locator("#candidates").scrollIntoViewIfNeeded();
        List<?> frames = (List<?>) page.evaluate(SCROLL);
        double median = ((Number) frames.get(frames.size() / 2)).doubleValue();
        double late =
            frames.stream().filter(f -> ((Number) f).doubleValue() > LATE).count()
                / (double) frames.size();
        System.out.printf(
            "%,d candidates: %.1f MB, open in %.2f s; scrolling: %.1f ms a frame in the median,"
                + " %.1f %% over 50 ms%n",
            CANDIDATES, bytes / 1e6, open, median, 100 * late);
        assertThat(bytes).isLessThanOrEqualTo(MOST_BYTES);
        if (TIMED) {
          assertThat(open).isLessThanOrEqualTo(MOST_SECONDS);
          assertThat(late).isLessThanOrEqualTo(MOST_LATE);
        }
      }
    }
  }
}
