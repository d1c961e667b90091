package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pages in a real browser. {@code -Dkbx.screenshots=DIR} keeps pictures of them.
 *
 * <p>The browser is the system's chromium; Playwright's own driver comes with its jar, so nothing
 * is fetched.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BrowserTest {
  private static final String AXE =
      """
      axe.run({ resultTypes: ["violations"] }).then(({ violations, passes }) =>
        passes.length < 20 ? ["too little was checked"] : violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join(" | ")}`))
      """;

  private static final String NOTHING = "about:blank";

  /** What is folded is checked, too; axe sees only what is shown. */
  private static final String UNFOLD =
      "() => document.querySelectorAll('details').forEach((each) => (each.open = true))";

  /** One for all classes of this JVM, as it takes seconds to start; it ends with the JVM. */
  private static @Nullable Browser browser;

  /**
   * The windows of this JVM, by what a window cannot change: pages are shown in them one after
   * another, since opening one takes half a second of a processor.
   */
  private static final Map<List<Object>, Window> WINDOWS = new HashMap<>();

  @TempDir Path folder;

  @BeforeAll
  static void startBrowser() {
    if (browser != null) return;
    PlaywrightAssertions.setDefaultAssertionTimeout(60_000);
    Optional<Path> chromium = chromium();
    Assumptions.assumeTrue(
        chromium.isPresent(), "needs chromium on the PATH; Debian: apt-get install chromium");
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new LaunchOptions()
                    .setExecutablePath(chromium.orElseThrow())
                    .setArgs(List.of("--no-sandbox")));
  }

  private static Optional<Path> chromium() {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .flatMap(dir ->
            Stream.of("chromium", "chromium-browser", "google-chrome").map(n -> Path.of(dir, n)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** A window that shows one page at a time, and what that page complains about. */
  private static final class Window {
    private final Page page;
    private final List<String> complaints = new ArrayList<>();
    private String own = "";

    Window(BrowserContext context) {
      page = context.newPage();
      page.onConsoleMessage(m -> complaints.add(m.type() + ": " + m.text()));
      page.onPageError(complaints::add);
      page.onRequest(request -> {
        if (!request.url().startsWith(own)) complaints.add("asks for " + request.url());
      });
    }

    Shown show(String address, String own, Browser.NewContextOptions options) {
      assertThat(page.url()).as("the page before is closed").isEqualTo(NOTHING);
      this.own = own;
      page.setViewportSize(options.viewportSize.get().width, options.viewportSize.get().height);
      page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme(options)));
      page.navigate(address);
      return new Shown(page, complaints);
    }

    private static ColorScheme scheme(Browser.NewContextOptions options) {
      return options.colorScheme == null ? ColorScheme.LIGHT : options.colorScheme.get();
    }
  }

  /** A page in a browser; closing it checks that it had no error and asked for nothing. */
  public record Shown(Page page, List<String> complaints) implements AutoCloseable {
    public void picture(String name, Page page) {
      String pictures = System.getProperty("kbx.screenshots");
      if (pictures == null) return;
      page.screenshot(
          new Page.ScreenshotOptions().setFullPage(true).setPath(Path.of(pictures, name + ".png")));
    }

    /** What axe finds wrong: contrast, names, roles, keyboard. A line for each rule. */
    public List<String> violations() throws IOException {
      try (InputStream axe = BrowserTest.class.getResourceAsStream("/axe.min.js")) {
        page.evaluate(UNFOLD);
        page.evaluate(new String(Objects.requireNonNull(axe).readAllBytes(), UTF_8));
      }
      List<String> found = new ArrayList<>();
      for (Object each : (List<?>) Objects.requireNonNull(page.evaluate(AXE))) {
        found.add(String.valueOf(each));
      }
      return found;
    }

    /** Whether nothing is cut or needs scrolling sideways. */
    public boolean fits() {
      return (boolean)
          page.evaluate(
              "document.documentElement.scrollWidth <= document.documentElement.clientWidth");
    }

    /** Whether every table shows all its columns without being scrolled. */
    public boolean showsAllColumns() {
      return (boolean)
          page.evaluate(
              "[...document.querySelectorAll('.scroll')].every((each) => each.scrollWidth <="
                  + " each.clientWidth)");
    }

    @Override
    public void close() {
      List<String> found = List.copyOf(complaints);
      page.navigate(NOTHING);
      page.context().clearCookies();
      complaints.clear();
      assertThat(found).isEmpty();
    }
  }

  /** A laptop or a phone, in light or dark. */
  public record Screen(int width, ColorScheme scheme) {
    public static List<Screen> all() {
      return Stream.of(ColorScheme.LIGHT, ColorScheme.DARK)
          .flatMap(scheme -> Stream.of(1400, 390).map(width -> new Screen(width, scheme)))
          .toList();
    }

    public Browser.NewContextOptions options() {
      return new Browser.NewContextOptions().setViewportSize(width, 900).setColorScheme(scheme);
    }

    /** For names of pictures. */
    @Override
    public String toString() {
      return width + "-" + scheme.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Opens a file, on a laptop's screen unless told otherwise. */
  Shown show(Path file, Browser.NewContextOptions options) {
    return show(file.toUri().toString(), "file:", options);
  }

  /** Opens an address; whatever does not begin with {@code own} must not be asked for. */
  protected Shown show(String address, String own, Browser.NewContextOptions options) {
    if (options.viewportSize == null) options.setViewportSize(1280, 800);
    return WINDOWS
        .computeIfAbsent(
            Arrays.asList(options.javaScriptEnabled, options.deviceScaleFactor),
            _ -> new Window(Objects.requireNonNull(browser).newContext(options)))
        .show(address, own, options);
  }
}
