package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx compare} and {@code kbx analyze portability}, as a user runs them. */
class CompareRunsTest {
  @TempDir private Path folder;

  private Path h200;
  private Path a100;
  private SimulatedRun first;
  private SimulatedRun second;

  @BeforeEach
  void runsOnTwoDevices() {
    h200 = folder.resolve("h200");
    a100 = folder.resolve("a100");
    first =
        SimulatedRun.on(SimulatedRun.H200, 1)
            .correct("Math/exp", "exp", 1.5)
            .correct("Activation/gelu", "gelu", 1.2)
            .store(h200);
    second =
        SimulatedRun.on(SimulatedRun.H200, 2)
            .correct("Math/exp", "exp", 1.4)
            .wrong("Activation/gelu", "gelu 2", Status.WRONG_VALUES)
            .store(h200);
    SimulatedRun.on(SimulatedRun.H200, 3).cutOff(7).store(h200);
    SimulatedRun.on(SimulatedRun.A100, 4)
        .correct("Math/exp", "exp", 0.7)
        .wrong("Activation/gelu", "gelu", Status.OUT_OF_MEMORY)
        .store(a100);
  }

  private Kbx.Result ok(Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err()).isZero();
    return result;
  }

  @Test
  void runsOnOneDeviceAreComparedInTime() {
    String text = ok("compare", "--out", h200, first.id(), second.id()).out();
    assertThat(text).contains("correct → wrong_values", "regressed", "slower", "persistent 1");
    JsonNode document = ok("runs", "compare", h200.resolve(first.id()), h200, "--json").json();
    assertThat(document.get("kind").asString()).isEqualTo("comparison");
    JsonNode step = document.get("steps").get(0);
    assertThat(step.get("now").get("id").asString()).isEqualTo(second.id());
    assertThat(step.get("tasks").get("regressed").asInt()).isEqualTo(1);
    assertThat(step.get("tasks").get("mcnemar").get("p_value").asDouble()).isEqualTo(1);
    JsonNode exp = step.get("candidates").get(1);
    assertThat(exp.get("same_source").asBoolean()).isTrue();
    assertThat(exp.get("speed").get("outcome").asString()).isEqualTo("slower");
    assertThat(exp.get("speed").get("value").asDouble()).isBetween(0.93, 0.94);
  }

  @Test
  void twoRunsFitOnOnePage() throws IOException {
    Path page = folder.resolve("compared.html");
    ok("compare", "--out", h200, first.id(), second.id(), "--output", page);
    assertThat(Files.readString(page))
        .contains("<h1>0 rescued, 1 regressed of 2 tasks</h1>")
        .contains("Regressed: 1 candidate", "Slower: 1 candidate")
        .contains("<span class=\"added\">");
    refused("--output: shows two runs, not 3", "compare", h200, h200, h200, "--output", page);
    refused("on different devices", "compare", h200, a100, "--output", page);
    Path deeper = folder.resolve("new/folder/compared.html");
    ok("compare", "--out", h200, first.id(), second.id(), "--page", deeper);
    assertThat(deeper).hasSameTextualContentAs(page);
    refused(
        "is a file; name a folder",
        "compare",
        "--out",
        h200,
        first.id(),
        second.id(),
        "--page",
        page.resolve("x.html"));
  }

  /** As files for one own reference are: the task is right if one of them is. */
  @Test
  void candidatesOfOneTaskAreToldApart() {
    Path several = folder.resolve("several");
    SimulatedRun then =
        SimulatedRun.on(SimulatedRun.CPU, 8)
            .correct("Math/exp", "exp a", 1)
            .correct("Math/exp", "exp b", 1)
            .store(several);
    SimulatedRun now =
        SimulatedRun.on(SimulatedRun.CPU, 9)
            .correct("Math/exp", "exp a", 1)
            .wrong("Math/exp", "exp c", Status.WRONG_VALUES)
            .store(several);
    assertThat(ok("compare", "--out", several, then.id(), now.id()).out().replaceAll("\\s+", " "))
        .contains("candidate file status")
        .contains("Tasks judged in both: 1, of them rescued 0, regressed 0, persistent 1")
        .contains("Candidates judged in both: 2, of them rescued 0, regressed 1, persistent 1");
  }

  @Test
  void runsOnTwoDevicesAreComparedByPortability() {
    assertThat(ok("compare", h200, a100).out())
        .isEqualTo(ok("analyze", "portability", h200, a100).out())
        .contains("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "1.40×", "0.70×", "2.00×");
    JsonNode document =
        ok("analyze", "portability", h200.resolve(first.id()), a100, "--json").json();
    assertThat(document.get("kind").asString()).isEqualTo("portability");
    assertThat(document.get("entered").asInt()).isEqualTo(1);
    assertThat(document.get("rows").asInt()).isEqualTo(2);
    assertThat(document.get("left_out").get(0).get("reason").asString()).isEqualTo("not_correct");
    assertThat(document.get("devices").get(1).get("slower").get("kernels").asInt()).isEqualTo(1);
  }

  /** One run used both cards of a machine, so they are one device, whoever used which. */
  @Test
  void runsOnCardsOfOneMachineAreComparedInTime() {
    SimulatedRun other =
        SimulatedRun.on(SimulatedRun.OTHER_H200, 6).correct("Math/exp", "exp", 1).store(h200);
    SimulatedRun both =
        SimulatedRun.on(SimulatedRun.H200, 7)
            .correct("Math/exp", "exp", 1)
            .then(SimulatedRun.OTHER_H200)
            .correct("Activation/gelu", "gelu", 1)
            .store(h200);
    assertThat(
            ok("compare", "--out", h200, first.id(), other.id(), both.id(), "--json")
                .json()
                .get("kind")
                .asString())
        .isEqualTo("comparison");
    assertThat(ok("compare", "--out", h200, first.id(), other.id(), "--json").json().get("kind"))
        .hasToString("\"portability\"");
  }

  @Test
  void incomparableRunsAreOneLineErrors() {
    SimulatedRun.on(SimulatedRun.CPU, 5).correct("Math/exp", "exp", 1).store(folder.resolve("cpu"));
    refused(
        "nothing was timed: the run used no GPU",
        "analyze",
        "portability",
        h200,
        folder.resolve("cpu"));
    refused("all runs are on one device", "analyze", "portability", h200);
    refused("no such run in " + h200, "compare", "--out", h200, first.id(), "nowhere");
    refused(
        "no runs in " + folder.resolve("elsewhere"),
        "compare",
        h200,
        folder.resolve("elsewhere").resolve(first.id()));
    refused("RUN", "compare", h200);
  }

  private void refused(String why, Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("kbx: ").contains(why).doesNotContain("\tat ");
  }
}
