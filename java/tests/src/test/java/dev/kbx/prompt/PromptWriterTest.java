package dev.kbx.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.prompt.PromptWriter.Turn;
import dev.kbx.task.Policy;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PromptWriterTest {
  /** Every task with {@code kbx.soak}, else some. */
  private static final int STEP = Boolean.getBoolean("kbx.soak") ? 1 : 8;

  private static final Prompts PROMPTS = Prompts.bundled(Path.of(""));
  private static final List<Task> FUNCTIONS = suite("kernelbenchx");
  private static final List<Task> SERVING = suite("serving");
  private static final List<Task> MODULES = suite("kernelbench");
  private static final Task GELU = named(FUNCTIONS, "gelu");
  private static final Task SOFTMAX = named(MODULES, "23_Softmax");

  private static final Verdict.Device H200 =
      new Verdict.Device("cuda", "NVIDIA H200", "GPU-5e3d", "570.1", "sm_90");

  private static final String KERNEL = "def gelu(input, approximate='none'):\n    return 7\n";

  private static List<Task> suite(String name) {
    return Suites.open(name, Path.of("tasks")).tasks();
  }

  private static Task named(List<Task> tasks, String name) {
    return tasks.stream().filter(task -> task.name().equals(name)).findFirst().orElseThrow();
  }

  /** PromptConditions with everything; tests take away. */
  private static PromptConditions all(Task task, Format format) {
    return new PromptConditions(
        Shots.FEW,
        true,
        true,
        Language.TRITON,
        FeedbackKind.PROFILE,
        History.WHOLE,
        format,
        Grade.PUBLISHED,
        Policy.usual(task),
        ModulePrecision.FP32);
  }

  private static PromptConditions bare(Language language, History history, FeedbackKind feedback) {
    return new PromptConditions(
        Shots.ZERO,
        false,
        false,
        language,
        feedback,
        history,
        Format.CHAT,
        Grade.PUBLISHED,
        Policy.KERNEL,
        ModulePrecision.FP32);
  }

  private static PromptWriter writer(PromptConditions conditions) {
    return new PromptWriter(PROMPTS, conditions, H200, MeasuredPeaks.NONE);
  }

  private static PromptWriter describing(Verdict.Device device) {
    return new PromptWriter(PROMPTS, all(GELU, Format.CHAT), device, MeasuredPeaks.NONE);
  }

  private static String user(List<Turn> turns) {
    assertThat(turns.getLast().role()).isEqualTo("user");
    return turns.getLast().text();
  }

  /** What a provider may keep. */
  @Test
  void requestsForATaskShareAPrefix() {
    PromptWriter writer = writer(all(GELU, Format.CHAT));
    Turn first = writer.first(GELU, null).getLast();
    Turn next = writer.next(GELU, List.of(WRONG)).getLast();
    Turn debug =
        writer
            .of("geak/debug", GELU, Map.of("attempts", List.of(WRONG), "ranked", false))
            .getLast();
    Turn judge = writer.of("geak/judge", GELU, Map.of("attempt", WRONG)).getLast();
    assertThat(first.stable()).isGreaterThan(1000).isLessThan(first.text().length());
    assertThat(List.of(next.stable(), debug.stable())).containsOnly(first.stable());
    assertThat(next.text()).startsWith(first.text().substring(0, first.stable()));
    assertThat(judge.stable()).isZero();
  }

  private static final PromptWriter.Attempt WRONG =
      new PromptWriter.Attempt(0, KERNEL, Judgements.wrong(), "A first try.");
  private static final PromptWriter.Attempt RIGHT =
      new PromptWriter.Attempt(1, KERNEL.replace('7', '8'), Judgements.correct(), null);
  private static final PromptWriter.Attempt EMPTY = new PromptWriter.Attempt(2, "", null, null);

  /** What each template of a method needs beside the values of every task. */
  private static final Map<String, Map<String, ?>> MORE =
      Map.ofEntries(
          Map.entry("geak/fresh", Map.of()),
          Map.entry("geak/pool", Map.of("pool", List.of(WRONG, RIGHT))),
          Map.entry("geak/debug", Map.of("attempts", List.of(WRONG, EMPTY), "ranked", false)),
          Map.entry("geak/reflect-failing", Map.of("attempt", WRONG)),
          Map.entry("geak/reflect-passing", Map.of("attempt", RIGHT)),
          Map.entry("geak/judge", Map.of("attempt", WRONG)),
          Map.entry("kernelagent/test", Map.of()),
          Map.entry("kernelagent/seed", Map.of("test", "assert True")),
          Map.entry(
              "kernelagent/refine",
              Map.of("test", "", "attempts", List.of(WRONG), "stdout", "out", "stderr", "err")),
          Map.entry("kernelagent/bottleneck", Map.of("attempt", RIGHT, "bottlenecks", 2)),
          Map.entry(
              "kernelagent/optimize",
              Map.of(
                  "best", RIGHT,
                  "attempts", List.of(WRONG),
                  "reflections", List.of("Tiles were too large."),
                  "cause", Map.of("category", "memory", "cause", "reads twice", "fix", "fuse"))),
          Map.entry("kernelagent/reflect", Map.of("attempt", RIGHT, "tried", "larger tiles")),
          Map.entry("evolve/fresh", Map.of("inspirations", List.of(RIGHT))),
          Map.entry(
              "evolve/mutate", Map.of("parent", RIGHT, "inspirations", List.of(WRONG, RIGHT))),
          Map.entry("evolve/cross", Map.of("first", WRONG, "second", RIGHT)));

  @Test
  void everyTemplateOfTheMethodsIsTested() throws IOException {
    List<String> found = new ArrayList<>();
    for (String method : List.of("geak", "kernelagent", "evolve")) {
      try (Stream<Path> files = Files.list(Path.of("prompts", method))) {
        files.forEach(file -> found.add(method + "/" + file.getFileName()));
      }
    }
    found.removeAll(List.of("geak/answer.mustache", "evolve/parent.mustache"));
    assertThat(MORE.keySet().stream().map(name -> name + ".mustache").toList())
        .containsExactlyInAnyOrderElementsOf(found);
  }

  private static void assertReadable(String text) {
    assertThat(text).contains("\n\n## ").doesNotContain("\n\n\n## ", "\n\n\n### ", "{{");
  }

  private static Stream<Task> someOfEachSuite() {
    return Stream.of(FUNCTIONS, MODULES)
        .flatMap(suite ->
            IntStream.iterate(0, i -> i < suite.size(), i -> i + STEP).mapToObj(suite::get));
  }

  static Stream<Task> tasks() {
    return Stream.concat(FUNCTIONS.stream(), MODULES.stream());
  }

  /** Tasks are described; what surrounds a description is alike for all tasks. */
  @Test
  @Tag("soak")
  void everyTaskIsDescribed() {
    someOfEachSuite()
        .forEach(task -> {
          PromptWriter writer = writer(all(task, Format.CHAT));
          assertThat(user(writer.first(task, KERNEL))).contains(task.signature());
        });
  }

  @Test
  @Tag("soak")
  void everyTemplateRendersForTasksOfEachSuite() {
    someOfEachSuite()
        .forEach(task -> {
          PromptWriter writer = writer(all(task, Format.CHAT));
          assertThat(user(writer.next(task, List.of(WRONG, EMPTY, RIGHT)))).contains("round 2");
          MORE.forEach((template, more) -> assertReadable(user(writer.of(template, task, more))));
          for (Format format : List.of(Format.AUTOTRITON, Format.KERNELLLM)) {
            PromptWriter special = writer(all(task, format));
            assertThat(user(special.first(task, null))).contains(task.entry());
            assertThat(user(special.next(task, List.of(WRONG)))).contains(task.entry());
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"A100-SXM4-80GB", "H100 80GB HBM3", "H200", "L40S", "RTX 4090", "B200"})
  void describesTheDevice(String name) {
    var device = new Verdict.Device("cuda", "NVIDIA " + name, "GPU-1", "1", null);
    String text = user(describing(device).first(GELU, null));
    assertThat(text).contains("## Device", "NVIDIA " + name + " (`sm_");
    assertThat(text).contains("streaming multiprocessors (SMs): ", "listed memory bandwidth");
    // Sources disagree about that of the L40S.
    assertThat(text.contains("L2 cache: ")).isEqualTo(!name.equals("L40S"));
    assertThat(text).contains("shared memory of a block", "registers: 65536", "Good practice for ");
    assertThat(text).doesNotContain("any recent NVIDIA GPU", "GPU-1");
  }

  @Test
  void measuredPeaksReplaceListedOnes() {
    var peaks = MeasuredPeaks.of(4123.4, Map.of("fp32", 51.26, "bf16", 702.4));
    String text =
        user(new PromptWriter(PROMPTS, all(GELU, Format.CHAT), H200, peaks).first(GELU, null));
    assertThat(text).contains("measured memory bandwidth: 4123 GB/s");
    assertThat(text).contains("measured matrix products: bf16 702, fp32 51.3 TFLOP/s");
    assertThat(text).doesNotContain("listed");
  }

  @Test
  void unknownDeviceHasFiguresOfItsArchitecture() {
    var device = new Verdict.Device("cuda", "NVIDIA X9000", null, null, "sm_90");
    String text = user(describing(device).first(GELU, null));
    assertThat(text)
        .contains("NVIDIA X9000 (`sm_90`)", "at most 227 KB", "Good practice for Hopper");
    assertThat(text).doesNotContain("L2 cache: ");
    var other = new Verdict.Device("cuda", "NVIDIA X9000", null, null, "sm_200");
    assertThat(user(describing(other).first(GELU, null))).contains("any recent NVIDIA GPU");
  }

  @Test
  void targetIsNamedWithoutGpu() {
    var device = new Verdict.Device("cpu", "Some Processor", null, null, "sm_80");
    String text = user(describing(device).first(GELU, null));
    assertThat(text).contains("There is no GPU", "architecture `sm_80`", "at most 163 KB");
    assertThat(text).doesNotContain("Some Processor");
  }

  @Test
  void conditionsSelectSections() {
    String full = user(writer(all(GELU, Format.CHAT)).first(GELU, null));
    assertThat(full).contains("## Device", "## Advice", "## Example for another task");
    assertThat(full).contains("def gelu(input: torch.Tensor", "NaN must stay NaN");
    assertThat(full).contains("\n\n## Language", "\n\n## Device", "\n\n## Advice", "\n\n## Reply");
    assertReadable(full);
    String plain =
        user(writer(bare(Language.TRITON, History.LAST, FeedbackKind.NONE)).first(GELU, null));
    assertThat(plain).contains("def gelu(input: torch.Tensor", "## Reply", "in Triton");
    assertThat(plain).doesNotContain("## Device", "## Advice", "## Example", "Kernel to start");
  }

  @Test
  void gradeSelectsTheStatement() {
    PromptConditions all = all(GELU, Format.CHAT);
    PromptConditions general =
        new PromptConditions(
            all.shots(),
            false,
            false,
            all.language(),
            all.feedback(),
            all.history(),
            all.format(),
            Grade.GENERAL,
            all.policy(),
            all.precision());
    assertThat(user(writer(all).first(GELU, null))).contains("## Arguments that decide");
    assertThat(user(writer(general).first(GELU, null))).doesNotContain("## Arguments that decide");
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void castIsDescribedForModulesOnly(Format format) {
    PromptConditions half = at(ModulePrecision.FP16, format, SOFTMAX);
    assertThat(user(writer(half).first(SOFTMAX, null)))
        .contains("## Precision", "The module is judged in float16", ".to(torch.float16)")
        .doesNotContain("input_precision=\"ieee\"");
    assertThat(user(writer(all(SOFTMAX, format)).first(SOFTMAX, null)))
        .doesNotContain("## Precision", "float16");
    assertThat(user(writer(at(ModulePrecision.FP16, format, GELU)).first(GELU, null)))
        .isEqualTo(user(writer(at(ModulePrecision.FP32, format, GELU)).first(GELU, null)));
  }

  private static PromptConditions at(ModulePrecision precision, Format format, Task task) {
    return new PromptConditions(
        Shots.ZERO,
        false,
        false,
        Language.TRITON,
        FeedbackKind.NONE,
        History.LAST,
        format,
        Grade.PUBLISHED,
        Policy.usual(task),
        precision);
  }

  @Test
  void initialKernelIsShown() {
    String fenced = "'''\n```\n'''\n" + KERNEL;
    assertThat(user(writer(all(GELU, Format.CHAT)).first(GELU, fenced)))
        .contains("## Kernel to start from", "````python\n" + fenced + "````\n");
  }

  @Test
  void historyHasFeedback() {
    List<PromptWriter.Attempt> attempts = List.of(WRONG, RIGHT);
    String last =
        user(
            writer(bare(Language.TRITON, History.LAST, FeedbackKind.EXECUTION))
                .next(GELU, attempts));
    assertThat(last).contains("round 1", "return 8", "Speedup: 1.25x", "Make it faster");
    assertThat(last).doesNotContain("round 0", "return 7", "bounded by");
    String whole =
        user(writer(bare(Language.TRITON, History.WHOLE, FeedbackKind.NONE)).next(GELU, attempts));
    assertThat(whole).contains("round 0", "round 1", "return 7", "return 8", "A first try.");
    assertThat(whole).doesNotContain("Speedup", "wrong_values");
    String empty =
        user(
            writer(bare(Language.TRITON, History.LAST, FeedbackKind.EXECUTION))
                .next(GELU, List.of(WRONG, EMPTY)));
    assertThat(empty).contains("The reply held no Python source.", "is not correct yet");
  }

  @Test
  void specialisedModelsHaveTheirFormats() {
    List<Turn> auto = writer(all(GELU, Format.AUTOTRITON)).first(GELU, null);
    assertThat(auto).hasSize(1);
    assertThat(user(auto))
        .contains(
            "Functional Description: Gaussian error", "Wrapper Entry Information: gelu(", "Math:");
    String llm = user(writer(all(GELU, Format.KERNELLLM)).first(GELU, null));
    assertThat(llm).contains("class Model(torch.nn.Module)", "`ModelNew`", "function `gelu`");
    String module = user(writer(all(SOFTMAX, Format.KERNELLLM)).first(SOFTMAX, null));
    assertThat(module).contains("class Model(nn.Module)").doesNotContain("*args", "End the file");
  }

  @ParameterizedTest
  @EnumSource(Language.class)
  void languageIsRequested(Language language) {
    PromptConditions conditions = bare(language, History.LAST, FeedbackKind.NONE);
    String marks =
        switch (language) {
          case TRITON -> "@triton.jit";
          case CUDA -> "load_inline";
          case CUTE -> "cute.compile";
          case TILELANG -> "@tilelang.jit";
        };
    assertThat(user(writer(conditions).first(SOFTMAX, null))).contains("## Language", marks);
    assertThat(language.allowedBy(GELU)).isEqualTo(language == Language.TRITON);
    if (language == Language.TRITON) return;
    assertThatThrownBy(() -> writer(conditions).first(GELU, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("Activation/gelu takes kernels in Triton only");
  }

  @Test
  void exampleIsNeverTheTasksKernel() throws IOException {
    int checked = 0;
    for (Task task : FUNCTIONS) {
      if (!Files.exists(task.kernel())) continue;
      String text = user(writer(all(task, Format.CHAT)).first(task, null));
      assertThat(text.split("## Example for another task", -1)).as(task.path()).hasSize(4);
      String kernel = Files.readString(task.kernel());
      assertThat(text).doesNotContain(kernel.substring(kernel.indexOf("@triton.jit")));
      checked++;
    }
    assertThat(checked).isGreaterThan(75);
  }

  @Test
  void servingIsStatedWithWeightedSizesAndAReferenceThatNeedsNoKbx() {
    for (Task task : SERVING) {
      String text = user(writer(all(task, Format.CHAT)).first(task, null));
      assertThat(text)
          .as(task.path())
          .contains("def " + task.entry() + "(", "(weight ", "## Example for another task")
          .doesNotContain("import kbx", "from kbx", "## Arguments that decide");
    }
    assertThat(SERVING).hasSizeGreaterThan(17);
  }

  @Test
  void exampleIsNeverTheModulesKernel() throws IOException {
    for (var example : Json.mapper().readTree(Path.of("prompts/examples/index.json").toFile())) {
      String code = Files.readString(Path.of("prompts/examples", example.get("file").asString()));
      String source = example.get("source").asString();
      MODULES.stream()
          .filter(task -> source.endsWith("/" + task.name() + ".py"))
          .forEach(task ->
              assertThat(user(writer(all(task, Format.CHAT)).first(task, null)))
                  .contains("## Example for another task")
                  .doesNotContain(code));
    }
  }

  /** They are honest, since they are judged elsewhere. */
  @Test
  void examplesAreKernelsOfTheRepository() throws IOException {
    for (var example : Json.mapper().readTree(Path.of("prompts/examples/index.json").toFile())) {
      String code = Files.readString(Path.of("prompts/examples", example.get("file").asString()));
      assertThat(Files.readString(Path.of(example.get("source").asString()))).endsWith(code);
    }
  }

  @ParameterizedTest
  @MethodSource("categories")
  void everyCategoryHasAdvice(String category) {
    assertThat(Path.of("prompts/advice", category + ".mustache")).isNotEmptyFile();
  }

  static Stream<String> categories() {
    return tasks().map(Task::category).distinct();
  }

  @Test
  void equalArgumentsGiveEqualText() {
    for (Task task : List.of(GELU, SOFTMAX)) {
      assertThat(writer(all(task, Format.CHAT)).next(task, List.of(WRONG, RIGHT)))
          .isEqualTo(
              new PromptWriter(
                      Prompts.bundled(Path.of("").toAbsolutePath()),
                      all(task, Format.CHAT),
                      H200,
                      MeasuredPeaks.NONE)
                  .next(task, List.of(WRONG, RIGHT)));
    }
  }

  @Test
  void factorsAreNamed() {
    assertThat(all(GELU, Format.AUTOTRITON).factors().toString())
        .isEqualTo(
            "{shots=few, hardware=true, advice=true, language=triton, feedback=profile,"
                + " history=whole, format=autotriton, grade=published, policy=kernel,"
                + " precision=fp32}");
    assertThat(writer(all(GELU, Format.AUTOTRITON)).firstTemplate()).isEqualTo("single/autotriton");
    assertThat(writer(all(GELU, Format.CHAT)).nextTemplate()).isEqualTo("refine/next");
  }
}
