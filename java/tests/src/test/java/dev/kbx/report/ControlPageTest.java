package dev.kbx.report;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.kbx.SectionText;
import dev.kbx.section.ControlsSection;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The matrix of {@code kbx tasks verify}, in a browser and on a terminal. */
class ControlPageTest extends BrowserTest {
  private static final TaskVerdict GELU =
      new TaskVerdict(
          "gelu",
          "kernelbenchx",
          "Activation",
          "tasks/gelu.py",
          null,
          null,
          List.of(
              new Control("reference", Kind.POSITIVE, true, "correct", "passed 21 calls", 40),
              new Control("zeros", Kind.NEGATIVE, true, "wrong_values", "in 3 of 21 calls", null),
              new Control("permuted", Kind.NEGATIVE, true, "skipped", "order is free", null),
              new Control("negative_tanh", Kind.NEGATIVE, true, "wrong_values", "x", 50),
              new Control("kernels/gelu.py", Kind.KERNEL, true, "correct", "all calls", null)),
          1.5,
          "key");

  private static final TaskVerdict UNSOUND =
      new TaskVerdict(
          "exp",
          "kernelbenchx",
          "Math",
          "tasks/exp.py",
          null,
          null,
          List.of(
              new Control("reference", Kind.POSITIVE, true, "correct", "passed 21 calls", 40),
              new Control("zeros", Kind.NEGATIVE, false, "correct", "<b>0 of 21</b>", null)),
          0.5,
          "key");

  private static final TaskVerdict UNUSABLE =
      new TaskVerdict(
          "log",
          "kernelbenchx",
          "Math",
          "tasks/log.py",
          null,
          "tasks/log.py:3: no",
          List.of(),
          null,
          null);

  private static final List<TaskVerdict> VERDICTS = List.of(GELU, UNSOUND, UNUSABLE);

  @Test
  void showsTheMatrixAndReasonsForUnsoundTasks() throws IOException {
    try (ControlFiles files = new ControlFiles(folder)) {
      files.finish(VERDICTS, "kernelbenchx", Fixtures.CPU);
      assertThat(files.before()).containsOnlyKeys("key");
      try (var shown = show(files.page(), new Browser.NewContextOptions())) {
        Page page = shown.page();
        assertThat(page.locator("h1")).hasText("1 of 3 tasks sound of kernelbenchx");
        assertThat(page.locator("#table-controls tbody tr")).hasCount(3);
        assertThat(page.locator("#table-controls .bad")).hasCount(1);
        Locator unsound = page.locator("#unsound");
        assertThat(unsound).containsText("<b>0 of 21</b>");
        assertThat(unsound).containsText("tasks/log.py:3: no");
        assertThat(shown.violations()).isEmpty();
        shown.picture("controls", page);
      }
    }
  }

  @Test
  void fitsATerminal() {
    String text = SectionText.of(60, ControlsSection.of(VERDICTS));
    assertThat(ControlsSection.complaints(VERDICTS))
        .contains("1 of 3 tasks sound", "tasks/log.py:3: no")
        .anyMatch(
            line -> line.startsWith("tasks/exp.py: negative control 'zeros' ended as correct"));
    assertThat(text.lines().filter(line -> line.startsWith("Activation/gelu")))
        .singleElement()
        .satisfies(line -> assertThat(line.split(" +")).endsWith("+", "+", "+", "s", "+"));
  }
}
