package dev.kbx.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.SimulatedRun;
import dev.kbx.dashboard.Boards;
import dev.kbx.dashboard.Dashboard;
import dev.kbx.dashboard.Viewer;
import dev.kbx.report.BrowserTest;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Status;
import io.helidon.webserver.WebServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages over HTTP, in a real browser: light and dark, on a laptop and a phone. */
class PagesTest extends BrowserTest {
  private static final String HOSTILE =
      "</script><script>document.title='owned'</script><img src=x"
          + " onerror=\"document.title='owned'\">";

  private static final String KERNEL =
      """
      import triton

      @triton.jit
      def kernel(x):
          return undefined
      """;

  /** Two of the four screens show what colours and widths break; the other two are for soak. */
  private static final List<Screen> SCREENS =
      Boolean.getBoolean("kbx.soak")
          ? Screen.all()
          : List.of(new Screen(1400, ColorScheme.LIGHT), new Screen(390, ColorScheme.DARK));

  private final ScriptedPageBackend desk = new ScriptedPageBackend();
  private @Nullable RunStore store;
  private @Nullable WebServer web;
  private String first = "";
  private String second = "";
  private String failed = "";

  @BeforeAll
  void startServer(@TempDir Path data) {
    store = RunStore.open(StoreAddress.of(data.resolve("kbx.db")));
    SimulatedRun one = SimulatedRun.on(SimulatedRun.H200, 1).asking("*", 176);
    List<String> tasks =
        List.of(
            "Activation/relu",
            "Activation/gelu",
            "Math/exp",
            "Math/log",
            "Reduce/sum",
            "Pooling/max_pool2d",
            "Index/gather",
            "Loss/cross_entropy",
            "Fusion/bias_gelu",
            "Math/sin");
    one.by("refine").model("large-model-2");
    for (int i = 0; i < tasks.size(); i++) one.correct(tasks.get(i), "a" + i, 0.8 + 0.2 * i);
    one.by("sample").model("large-model-2");
    for (int i = 0; i < tasks.size(); i++) {
      if (i < 9) one.correct(tasks.get(i), "b" + i, 1.1);
      else one.wrong(tasks.get(i), "b" + i, Status.COMPILE_ERROR);
    }
    one.by(HOSTILE).model("small");
    one.saying("line 5: name 'undefined' is not defined " + HOSTILE);
    for (String task : tasks) one.wrong(task, KERNEL + "# " + task + HOSTILE, Status.RUNTIME_ERROR);
    one.store(store);
    SimulatedRun two =
        SimulatedRun.on(SimulatedRun.H200, 2)
            .by("refine")
            .model("large-model-2")
            .correct("Activation/relu", "c", 1.9)
            .saying("12 of 1,003 elements are wrong at shape (17, 59)")
            .wrong("Math/exp", "d", Status.WRONG_VALUES)
            .cutOff(8);
    two.store(store);
    first = one.id();
    second = two.id();
    failed = one.verdicts().getLast().provenance().candidate();
    List<Suite> suites = List.of(Bundled.suite("kernelbenchx"));
    Bodies bodies = new Bodies(Patience.LIMIT, (_, body, buffer) -> body.read(buffer));
    Dashboard dashboard =
        new Dashboard(store, suites, new Boards(store.queries(), suites), Bundled.STATEMENT);
    web =
        WebServer.builder()
            .host("127.0.0.1")
            .port(0)
            .shutdownHook(false)
            .routing(routing ->
                routing
                    .register("/", new PageRoutes(dashboard, desk, bodies))
                    .get(
                        "/v1/judgements/{id}",
                        (request, response) ->
                            response
                                .header("Content-Type", "application/json")
                                .send("{\"state\":\"%s\",\"ahead\":1}".formatted(desk.state)))
                    .get(
                        "/v1/runs/{id}/events",
                        (request, response) ->
                            response
                                .header("Content-Type", "text/event-stream")
                                .send(
                                    "event: progress\n"
                                        + "data: {\"judged\":7,\"queued\":2,\"judging\":1}\n\n")))
            .build()
            .start();
  }

  @AfterAll
  void stopServer() {
    if (web != null) web.stop();
    if (store != null) store.close();
  }

  @BeforeEach
  void reset() {
    desk.submissions.clear();
    desk.state = "queued";
    desk.viewer = Viewer.LOCAL;
    desk.signedIn = true;
  }

  private String url(String path) {
    return "http://127.0.0.1:" + Objects.requireNonNull(web).port() + path;
  }

  private Shown show(String path) {
    return show(path, new Browser.NewContextOptions().setViewportSize(1400, 900));
  }

  private Shown show(String path, Browser.NewContextOptions options) {
    return show(url(path), url("/"), options);
  }

  @Test
  void everyPageIsReadableOnEveryScreen() throws IOException {
    List<String> paths =
        List.of(
            "/",
            "/runs",
            "/runs/" + first,
            "/leaderboard",
            "/tasks",
            "/tasks/kernelbenchx/Activation/relu",
            "/candidates/" + failed,
            "/compare?a=" + first + "&b=" + second,
            "/submit",
            "/system",
            "/docs",
            "/login");
    for (Screen screen : SCREENS) {
      try (Shown shown = show("/", screen.options())) {
        for (String path : paths) {
          shown.page().navigate(url(path));
          assertThat(shown.page()).not().hasTitle("owned");
          assertThat(shown.fits()).as("%s on %s", path, screen).isTrue();
          String name =
              path.replaceAll("[?].*", "").replaceAll("[^a-z]+", "-").replaceAll("^-$", "-home");
          shown.picture("page" + name + "-" + screen, shown.page());
          assertThat(shown.violations()).as("%s on %s", path, screen).isEmpty();
          assertThat(shown.fits()).as("%s unfolded on %s", path, screen).isTrue();
        }
      }
    }
  }

  @Test
  void livePageFollowsEvents() {
    try (Shown shown = show("/")) {
      Page page = shown.page();
      assertThat(page.locator("#live article")).hasCount(1);
      assertThat(page.locator("#live")).containsText("7 of 10 judged, 1 correct");
      assertThat(page.locator(".tile", new Page.LocatorOptions().setHasText("Waiting")))
          .containsText("the oldest for 1 min 15 s");
    }
  }

  @Test
  void candidatesOfARunAreFiltered() {
    try (Shown shown = show("/runs/" + first)) {
      Page page = shown.page();
      page.locator("#table-errors").getByText("compile_error").click();
      assertThat(page.locator("#candidates output")).hasText("1 candidate");
      assertThat(page.locator("#table-verdicts tbody tr")).hasCount(1);
      page.locator("select[name=status]").selectOption("correct");
      page.locator("input[name=task]").fill("Math/exp");
      page.locator("#candidates button").click();
      assertThat(page.locator("#table-verdicts tbody tr")).hasCount(2);
      page.locator("#table-verdicts tbody a").first().click();
      assertThat(page.locator("h1")).hasText("Math/exp: correct");
    }
  }

  @Test
  void aRunIsNamedInItsPage() {
    try (Shown shown = show("/runs/" + first)) {
      Page page = shown.page();
      page.locator("details.label summary").click();
      page.locator("[name=name]").fill("warm <b>");
      page.locator("[name=note]").fill("one\ntwo");
      page.locator("details.label button").click();
      assertThat(page).hasURL(url("/runs/" + first));
      assertThat(desk.labels.get(first)).isEqualTo(new RunLabel("warm <b>", "one\ntwo"));
    }
    desk.viewer = new Viewer("reader", false, true, "secret");
    try (Shown shown = show("/runs/" + first)) {
      assertThat(shown.page().locator("[name=note]")).hasCount(0);
    }
  }

  @Test
  void theLeaderboardShowsTies() {
    try (Shown shown = show("/leaderboard")) {
      assertThat(shown.page().locator("#table-board tbody tr").nth(0)).containsText("1 tied");
      assertThat(shown.page().locator("#table-board tbody tr").nth(1)).containsText("1 tied");
      assertThat(shown.page().locator("#table-board tbody tr").nth(2)).containsText("behind");
    }
  }

  @Test
  void candidatePageMarksTheFailingLineAndRunsNoScript() {
    try (Shown shown = show("/candidates/" + failed)) {
      Page page = shown.page();
      assertThat(page.locator(".code-line.failing")).hasAttribute("data-line", "5");
      assertThat(page.locator(".panel .reason")).containsText("document.title='owned'");
      assertThat(page.locator("img")).hasCount(0);
      assertThat(page).hasTitle(Pattern.compile("Math/sin: runtime_error.*"));
    }
  }

  @Test
  void aSubmissionIsFollowedUntilItsVerdict() {
    try (Shown shown = show("/submit?suite=kernelbenchx&task=Activation/relu")) {
      Page page = shown.page();
      page.locator("[name=code]").fill(KERNEL);
      page.locator("button.button").click();
      assertThat(page)
          .hasURL(
              Pattern.compile(".*/candidates/" + ScriptedPageBackend.HASH + "[?]judgement=j_1"));
      assertThat(page.locator("[data-state]")).hasText("queued");
      desk.state = "judging";
      assertThat(page.locator("[data-state]")).hasText("judging");
      assertThat(desk.submissions.getFirst().code()).isEqualTo(KERNEL);
      assertThat(desk.submissions.getFirst().grade()).isEqualTo("published");
      assertThat(desk.submissions.getFirst().task()).isEqualTo("Activation/relu");
    }
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private HttpResponse<String> post(String form) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(url("/submit")))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form)));
  }

  @Test
  void refusedFormKeepsItsInput() throws Exception {
    HttpResponse<String> answer = post("task=Nowhere/none&code=%3Cb%3Ex");
    assertThat(answer.statusCode()).isEqualTo(422);
    assertThat(answer.body())
        .contains("did you mean &lt;Activation/relu&gt;?")
        .contains("&lt;b&gt;x</textarea>");
  }

  @Test
  void aFormOfAnotherSessionIsRefused() throws Exception {
    desk.viewer = new Viewer("ann", true, true, "secret");
    assertThat(post("task=Activation/relu&code=x&csrf=other").statusCode()).isEqualTo(403);
    assertThat(desk.submissions).isEmpty();
    assertThat(post("task=Activation/relu&code=x&csrf=secret").statusCode()).isEqualTo(303);
  }

  @Test
  void signedOutViewerIsSentToLogin() throws Exception {
    desk.signedIn = false;
    HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(url("/runs"))));
    assertThat(answer.statusCode()).isEqualTo(303);
    assertThat(answer.headers().firstValue("location")).contains("/login?next=%2Fruns");
    String evil =
        send(HttpRequest.newBuilder(URI.create(url("/login?next=//evil.example")))).body();
    assertThat(evil).contains("name=\"next\" value=\"/\"");
  }

  @Test
  void contentSecurityPolicyForbidsForeignContent() throws Exception {
    HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(url("/runs/nothing"))));
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(answer.headers().firstValue("content-security-policy").orElseThrow())
        .contains("default-src 'none'")
        .contains("script-src 'self'")
        .doesNotContain("unsafe");
    assertThat(answer.headers().firstValue("x-content-type-options")).contains("nosniff");
    assertThat(send(HttpRequest.newBuilder(URI.create(url("/assets/..%2Fkbx.db")))).statusCode())
        .isEqualTo(404);
  }
}
