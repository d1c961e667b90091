package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.app.Home;
import dev.kbx.task.BackwardSuite;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code --backward}: the gradients of a suite's tasks. */
class BackwardSuitesTest {
  private static final String HEAD =
      """
      import torch
      import triton
      import triton.language as tl

      """;

  private static final String SIGMOID =
      HEAD
          + """
          @triton.jit
          def kernel(g, x, dx, n, BLOCK: tl.constexpr):
              i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
              y = tl.sigmoid(tl.load(x + i, mask=i < n, other=0.0).to(tl.float32))
              tl.store(dx + i, tl.load(g + i, mask=i < n, other=0.0).to(tl.float32) * y * FACTOR, mask=i < n)

          SEEN = {}

          def sigmoid_backward(grad_output, input):
              g, x = UPSTREAM.contiguous(), input.contiguous()
              dx = torch.empty_like(x)
              kernel[(triton.cdiv(x.numel(), 256),)](g, x, dx, x.numel(), BLOCK=256)
              return dx
          """;

  private static final String RELU =
      HEAD
          + """
          @triton.jit
          def kernel(g, x, dx, n, BLOCK: tl.constexpr):
              i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
              v = tl.load(x + i, mask=i < n, other=0.0)
              tl.store(dx + i, tl.where(v > 0, tl.load(g + i, mask=i < n, other=0.0), 0.0), mask=i < n)

          class Relu(torch.autograd.Function):
              @staticmethod
              def forward(ctx, x):
                  ctx.save_for_backward(x)
                  return torch.empty_like(x)

              @staticmethod
              def backward(ctx, grad):
                  (x,) = ctx.saved_tensors
                  g, x = grad.contiguous(), x.contiguous()
                  dx = torch.empty_like(x)
                  kernel[(triton.cdiv(x.numel(), 256),)](g, x, dx, x.numel(), BLOCK=256)
                  return dx

          class ModelNew(torch.nn.Module):
              def forward(self, x):
                  return Relu.apply(x)
          """;

  @TempDir private Path folder;

  private void write(String name, String text) throws Exception {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private Kbx.Result kbx(String command, Object... arguments) throws Exception {
    List<Object> all = new ArrayList<>(List.of((Object[]) command.split(" ")));
    all.addAll(List.of(arguments));
    all.addAll(List.of("--device", "cpu", "--jobs", 1, "--out", folder.resolve("kbx-out")));
    return Kbx.here(all.toArray());
  }

  private static String sigmoid(String factor, String upstream) {
    return SIGMOID.replace("FACTOR", factor).replace("UPSTREAM", upstream);
  }

  @Test
  void gradientsOfASuitesTasksAreJudged() throws Exception {
    write("right/sigmoid_backward.py", sigmoid("(1 - y)", "grad_output"));
    write("wrong/sigmoid_backward.py", sigmoid("1.0", "grad_output"));
    write(
        "stale/sigmoid_backward.py",
        sigmoid("(1 - y)", "SEEN.setdefault(input.shape, grad_output.clone())"));
    Path example = Kbx.home().resolve("examples/backward/softmax_backward.py");
    String softmax = Files.readString(example);
    write("right/softmax_backward.py", softmax);
    write(
        "wrong/softmax_backward.py",
        softmax.replace("(grad - tl.sum(probability * grad))", "grad"));
    Kbx.Result result = kbx("eval", folder, "--backward", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    Map<String, String> found =
        result.json().get("verdicts").values().stream()
            .collect(
                Collectors.toMap(
                    verdict -> named(verdict), verdict -> verdict.get("status").asString()));
    assertThat(found)
        .containsOnly(
            Map.entry("right/sigmoid_backward", "correct"),
            Map.entry("wrong/sigmoid_backward", "wrong_values"),
            Map.entry("stale/sigmoid_backward", "wrong_values"),
            Map.entry("right/softmax_backward", "correct"),
            Map.entry("wrong/softmax_backward", "wrong_values"));
    assertThat(result.json().get("run").get("suite").asString()).isEqualTo("kernelbenchx-backward");
  }

  private static String named(JsonNode verdict) {
    Path source = Path.of(verdict.get("source").asString());
    return requireNonNull(source.getParent()).getFileName() + "/" + verdict.get("task").asString();
  }

  @Test
  void gradientsOfAModulesTaskAreJudged() throws Exception {
    write("right/19_ReLU_backward.py", RELU);
    write("wrong/19_ReLU_backward.py", RELU.replace("v > 0", "v > 0.5"));
    Kbx.Result result =
        kbx(
            "eval",
            folder,
            "--suite",
            "kernelbench",
            "--backward",
            "--tasks",
            "level1/19",
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("verdicts").values())
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values");
  }

  /** Both the forward's name and that of the gradients mean the task. */
  @Test
  void aTaskWithoutAGradientIsRefusedInALine() throws Exception {
    write("argmax_backward.py", sigmoid("1.0", "grad_output"));
    for (String name : List.of("argmax", "argmax_backward", "Reduce/argmax")) {
      assertThat(kbx("eval", folder, "--backward", "--tasks", name).err())
          .isEqualTo(
              "kbx: task '%s' of suite kernelbenchx-backward has no gradient to judge: integer result: the result is i64[7]\n"
                  .formatted(name));
    }
  }

  /** Its kernel of the forward pass would be judged as one of gradients otherwise. */
  @Test
  void aFileNamedAfterTheForwardIsToldTheOtherName() throws Exception {
    write("sigmoid.py", sigmoid("(1 - y)", "grad_output"));
    Path file = folder.resolve("sigmoid.py");
    assertThat(kbx("eval", file, "--backward").err())
        .startsWith(
            "kbx: %s: no task 'sigmoid' in suite kernelbenchx-backward; did you mean sigmoid_backward?"
                .formatted(file));
  }

  @Test
  void listsSayWhichTasksHaveAGradientAndWhyOthersHaveNone() throws Exception {
    Kbx.Result reduce = Kbx.here("tasks", "list", "--backward", "--category", "Reduce");
    assertThat(reduce.out())
        .contains(
            "Reduce  sum_backward(grad_output, input, dim, keepdim=False, dtype=None)\n",
            "Without a gradient to judge (1):\n"
                + "Reduce/argmax: integer result: the result is i64[7]\n");
    List<JsonNode> rows =
        List.copyOf(
            Kbx.here("tasks", "list", "--backward", "--category", "Random", "--json")
                .json()
                .values());
    assertThat(rows)
        .extracting(row -> row.get("name").asString() + " " + row.path("without").asString())
        .containsExactly(
            "logspace PyTorch has none: the result is in no graph",
            "rand random: the result is drawn");
  }

  @Test
  void thePromptHasTheForwardAndTheSignatureOfTheGradients() throws Exception {
    String prompt = Kbx.here("tasks", "show", "batch_norm", "--backward", "--prompt").out();
    assertThat(prompt)
        .contains(
            "# batch_norm_backward",
            "The gradients of `batch_norm` below, of `input`, `weight`, `bias` in order",
            "def batch_norm_backward(grad_output, input, running_mean",
            "return F.batch_norm(")
        .doesNotContain("`out`:");
  }

  @Test
  void theDocumentedCountsAreThoseOfTheRecords() throws Exception {
    String page = Files.readString(Kbx.home().resolve("docs/tasks.md"));
    for (String suite : List.of("kernelbenchx", "kernelbench", "serving")) {
      Suite opened = Home.here().suite(BackwardSuite.name(suite));
      long with = published(opened.tasks().stream());
      long counted = with + published(opened.without().stream().map(Suite.Lacking::forward));
      assertThat(page).contains("| **%s** | **%d of %d** | |\n".formatted(suite, with, counted));
    }
  }

  private static long published(Stream<Task> tasks) {
    return tasks.filter(task -> !task.extra()).count();
  }

  /** Of a folder that says nothing of gradients, each task is tried. */
  @Test
  void aFolderOfOnesOwnIsTried() throws Exception {
    Path suite = folder.resolve("mine");
    Path given = Kbx.home().resolve("tasks/kernelbenchx");
    for (String name : List.of("Reduce/argmax", "Activation/sigmoid")) {
      Path copy = suite.resolve(name + ".py");
      Files.createDirectories(copy.getParent());
      Files.copy(given.resolve(name + ".py"), copy);
    }
    Kbx.Result result = kbx("tasks verify", "--suite", suite, "--backward", "--json");
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    Map<String, JsonNode> found =
        result.json().values().stream()
            .collect(Collectors.toMap(each -> each.get("name").asString(), each -> each));
    assertThat(requireNonNull(found.get("sigmoid_backward")).get("ok").asBoolean()).isTrue();
    assertThat(requireNonNull(found.get("argmax_backward")).get("problem").asString())
        .contains("no gradient to judge (integer result): the result is i64[7]");
  }

  /** Every so many tasks with a gradient are verified: all take an hour on two processors. */
  private static final Map<String, Integer> EVERY =
      Map.of("kernelbenchx", 14, "serving", 7, "kernelbench", 40);

  /** What {@code backward.json} says is what trying finds. */
  @ParameterizedTest
  @ValueSource(strings = {"kernelbenchx", "serving", "kernelbench"})
  @Tag("soak-only")
  void whatIsRecordedOfGradientsIsSo(String suite) throws Exception {
    List<String> with = new ArrayList<>();
    List<String> without = new ArrayList<>();
    for (JsonNode row :
        Kbx.here("tasks", "list", "--suite", suite, "--backward", "--json").json().values()) {
      String name = row.get("name").asString();
      if (row.has("without")) without.add(name + "_backward");
      // Networks of level 3 take minutes each.
      else if (!row.get("category").asString().equals("level3")) with.add(name);
    }
    int every = requireNonNull(EVERY.get(suite));
    List<String> sampled =
        IntStream.range(0, with.size()).filter(i -> i % every == 0).mapToObj(with::get).toList();
    Kbx.Result verified =
        kbx("tasks verify", String.join(",", sampled), "--suite", suite, "--backward", "--json");
    assertThat(verified.exit()).as(verified.err()).isZero();
    assertThat(verified.json().values()).hasSize(sampled.size());
    Path copy = folder.resolve(suite);
    copyUnrecorded(Kbx.home().resolve("tasks").resolve(suite), copy);
    Kbx.Result tried =
        kbx("tasks verify", String.join(",", without), "--suite", copy, "--backward", "--json");
    assertThat(tried.json().values())
        .hasSize(without.size())
        .allSatisfy(each ->
            assertThat(each.path("problem").asString("")).contains("no gradient to judge ("));
  }

  private static void copyUnrecorded(Path from, Path to) throws Exception {
    try (var all = Files.walk(from)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (file.endsWith("backward.json") || file.toString().contains("kernels")) continue;
        Path copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
  }
}
