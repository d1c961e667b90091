package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.kbx.analysis.FeedbackChange;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.report.Trajectory.Message;
import dev.kbx.report.Trajectory.Round;
import dev.kbx.section.TrajectoriesSectionTest;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The report of a run of methods in a real browser. */
class MethodsPageTest extends BrowserTest {
  private static final String PROMPT = "# exp\n\nWrite a kernel.\n\n## Sizes\n\n- 4096\n";

  private static List<Verdict> verdicts() {
    List<Verdict> verdicts = new ArrayList<>();
    for (String task : List.of("Math/exp", "Math/log")) {
      Verdict refined =
          task.endsWith("exp")
              ? Fixtures.passed(task, 0, "refine turn-1", Fixtures.CPU, 1)
              : Fixtures.failed(task, 0, Status.WRONG_VALUES, Stage.CORRECT).build(Fixtures.CPU);
      verdicts.add(Made.by("refine", "command:long", refined));
      for (int sample = 0; sample < 4; sample++) {
        verdicts.add(
            Made.by(
                "sample",
                "openai:gpt-5",
                Fixtures.failed(task, sample, Status.WRONG_VALUES, Stage.CORRECT)
                    .build(Fixtures.CPU)));
      }
    }
    return verdicts;
  }

  private static Round round(String ask, List<String> about, List<Message> prompt, String reply) {
    return new Round(
        ask,
        about,
        prompt,
        reply,
        null,
        "written by hand",
        1_234L,
        null,
        0.5,
        "fence",
        about.isEmpty() ? null : about.getFirst(),
        about.isEmpty() ? null : "@@ -1 +1 @@\n-BLOCK = 64\n+BLOCK = 128",
        "correct",
        "3 wrong elements",
        null,
        "1.60× [1.59–1.61] against eager, recorded on NVIDIA H200, 2026-11-25");
  }

  private static ResultFiles.MethodsReport methods() {
    String second = PROMPT.replace("## Sizes", "Your kernel was <b>wrong</b>.\n\n## Sizes");
    return new ResultFiles.MethodsReport(
        TrajectoriesSectionTest.rows(null, 1.6),
        List.of(
            new FeedbackChange.Followed(
                "refine", "m", "Math/exp", Status.WRONG_VALUES, Status.CORRECT, 0.25)),
        List.of(
            new Trajectory(
                "refine",
                "Math/exp",
                0,
                "turn-1",
                "last",
                List.of(
                    round(
                        "turn-0",
                        List.of(),
                        List.of(Message.of("user", PROMPT, null)),
                        "Here it is."),
                    round(
                        "turn-1",
                        List.of("turn-0"),
                        List.of(Message.of("user", second, PROMPT)),
                        "<script>alert(1)</script>")))));
  }

  private ResultFiles write() {
    List<Verdict> verdicts = verdicts();
    RunInfo run = Fixtures.run(Fixtures.CPU, verdicts.size(), 2, List.of("refine by command:long"));
    ResultFiles files = new ResultFiles(folder);
    files.finish(
        run,
        RunVerdicts.of(verdicts),
        Fixtures.asked(run, verdicts),
        Fixtures::source,
        List.of(),
        methods());
    return files;
  }

  @Test
  void methodsAreShownSideBySide() throws IOException {
    try (ResultFiles files = write();
        var shown =
            show(files.report(), new Browser.NewContextOptions().setViewportSize(1400, 900))) {
      Page page = shown.page();
      assertThat(page.locator("h1")).containsText("refine");
      assertThat(page.locator(".tile")).hasCount(0);
      Locator rows = page.locator("#trajectories tbody tr");
      assertThat(rows).hasCount(2);
      assertThat(rows.first()).containsText("2/2");
      assertThat(rows.first()).containsText("+50");
      assertThat(rows.last()).containsText("1/8");
      assertThat(rows.last()).containsText("@4 50.0 %");
      assertThat(rows.last()).containsText("≥ 2.00");
      assertThat(page.locator("figure.curve")).hasCount(5);
      page.locator("#turns summary").click();
      assertThat(page.locator("#table-feedback")).containsText("25.0 %");
      assertThat(page.locator("#rounds .remark"))
          .containsText("recorded on NVIDIA H200, 2026-11-25");
      assertThat(page.locator("#rounds tbody tr").first()).containsText("→ correct (1.60×)");
      assertThat(page.locator("#table-errors")).containsText("refine");
      assertThat(page.locator("#table-where thead")).containsText("sample");
      assertThat(page.locator("#table-where tbody tr").last()).containsText("50.0 %");
      shown.picture("methods-light", page);
    }
  }

  @Test
  void candidateShowsItsTrajectory() throws IOException {
    var dark = new Browser.NewContextOptions().setColorScheme(ColorScheme.DARK);
    try (ResultFiles files = write();
        var shown = show(files.report(), dark)) {
      Page page = shown.page();
      page.locator(".opener").first().click();
      Locator written = page.locator(".written");
      assertThat(written).containsText("The answer is the kernel of turn-1: last.");
      Locator second = written.locator("details").nth(1);
      assertThat(second.locator("summary")).containsText("recorded on NVIDIA H200");
      second.locator("summary").click();
      assertThat(second).containsText("… 4 lines as in the request before");
      assertThat(second).containsText("with what was found about turn-0");
      assertThat(second).containsText("Your kernel was <b>wrong</b>.");
      assertThat(second).containsText("<script>alert(1)</script>");
      assertThat(second).not().containsText("Write a kernel.");
      assertThat(second).containsText("Changes since turn-0");
      assertThat(second.locator(".diff .added")).hasText("+BLOCK = 128");
      assertThat(page.url()).contains("candidate=Math%2Fexp%40refine");
      page.reload();
      assertThat(page.locator(".written")).hasCount(1);
      assertThat(shown.violations()).isEmpty();
      shown.picture("methods-dark", page);
    }
  }

  @Test
  void phonePageFitsTheScreen() throws IOException {
    var phone = new Browser.NewContextOptions().setViewportSize(390, 844);
    try (ResultFiles files = write();
        var shown = show(files.report(), phone)) {
      Page page = shown.page();
      assertThat((int) page.evaluate("document.documentElement.scrollWidth")).isEqualTo(390);
      assertThat(shown.violations()).isEmpty();
      shown.picture("methods-phone", page);
    }
  }

  @Test
  void pageIsReproducible() throws IOException {
    byte[] first;
    try (ResultFiles files = write()) {
      first = Files.readAllBytes(files.report());
    }
    try (ResultFiles files = write()) {
      assertThat(Files.readAllBytes(files.report())).isEqualTo(first);
    }
  }

  @Test
  void tasksWithoutAFinalJudgementAreNotUnsolved() throws IOException {
    Spent spent = new Spent.Amounts().calls(1).requests(1).spent();
    TrajectoryRow row =
        new TrajectoryRow("refine", "m", "Math/exp", 0, true, true, null, List.of(), spent, spent);
    RunInfo run = Fixtures.run(Fixtures.CPU, 1, 1, List.of("refine by m"));
    List<Verdict> none = List.of();
    try (ResultFiles files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(none),
          Fixtures.asked(run, none),
          Fixtures::source,
          List.of(),
          new ResultFiles.MethodsReport(List.of(row), List.of(), List.of()));
      assertThat(Files.readString(files.report()))
          .contains("<h1>refine at 1 task, not judged</h1>");
    }
  }
}
