package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Where modules hold beyond the published calls: other batches, weights and dtypes. */
class ModuleGradesTest {
  private static final String HONEST =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def add_relu_kernel(x_ptr, bias_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n)
          bias = tl.load(bias_ptr + i % columns, mask=i < n)
          tl.store(y_ptr + i, tl.maximum(x + bias, 0.0), mask=i < n)


      class ModelNew(nn.Module):
          def __init__(self, in_features, out_features, bias_shape):
              super().__init__()
              self.gemm = nn.Linear(in_features, out_features, bias=False)
              self.bias = nn.Parameter(torch.randn(bias_shape))

          def forward(self, x):
              x = self.gemm(x)
              y = torch.empty_like(x)
              n = x.numel()
              add_relu_kernel[(triton.cdiv(n, 1024),)](x, self.bias, y, n, x.shape[1], BLOCK=1024)
              return y
      """;

  /** Right for inputs of torch.rand, which are the published ones: none is negative. */
  private static final String IDENTITY =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(y_ptr + i, tl.abs(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


      class ModelNew(nn.Module):
          def forward(self, x):
              y = torch.empty_like(x)
              relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
              return y
      """;

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> PUBLISHED = new HashMap<>();
  private static final Map<String, JsonNode> GENERAL = new HashMap<>();

  @BeforeAll
  static void judge() throws Exception {
    Path kernels = folder.resolve("kernels");
    Map<String, String> sources =
        Map.of(
            "honest",
            HONEST,
            "batch",
            HONEST.replace("n = x.numel()", "n = 19 * x.shape[1]"),
            "folded",
            HONEST
                .replace(
                    "(bias_shape))\n", "(bias_shape))\n        self.kept = [self.bias.clone()]\n")
                .replace("(x, self.bias, y", "(x, self.kept[0].to(x.dtype), y"),
            "renamed",
            HONEST.replace("self.bias", "self.offset"),
            "single",
            HONEST.replace("empty_like(x)", "empty_like(x, dtype=torch.float32)"),
            "exits",
            HONEST.replace(
                "        y =",
                "        if x.dtype == torch.float16: import os; os._exit(3)\n        y ="));
    for (var source : sources.entrySet()) {
      Path file = kernels.resolve(source.getKey()).resolve("76_Gemm_Add_ReLU.py");
      Files.createDirectories(requireNonNull(file.getParent()));
      Files.writeString(file, source.getValue());
    }
    Path relu = Files.createDirectories(kernels.resolve("identity"));
    Files.writeString(relu.resolve("19_ReLU.py"), IDENTITY);
    judge(PUBLISHED, kernels, "published");
    judge(GENERAL, kernels, "general");
  }

  private static void judge(Map<String, JsonNode> into, Path kernels, String grade) {
    Kbx.Result result =
        Kbx.here(
            "eval",
            kernels,
            "--stages",
            "compile,call,correct",
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--json",
            "--seed",
            Kbx.SEED,
            "--grade",
            grade,
            "--out",
            folder.resolve(grade));
    assertThat(result.exit()).as(result.err()).isZero();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      into.put(requireNonNull(source.getParent()).getFileName().toString(), verdict);
    }
  }

  private static JsonNode verdict(Map<String, JsonNode> verdicts, String name) {
    return requireNonNull(verdicts.get(name), name);
  }

  private static List<String> holds(String name) {
    JsonNode verdict = verdict(PUBLISHED, name);
    assertThat(verdict.get("status").asString()).as(verdict.toString()).isEqualTo("correct");
    return properties(verdict).filter(property -> !isOfValues(property)).toList();
  }

  private static Stream<String> properties(JsonNode verdict) {
    return verdict.get("holds").valueStream().map(JsonNode::asString);
  }

  private static boolean isOfValues(String property) {
    return property.endsWith("_values") || property.equals("zeros");
  }

  private static List<String> breaks(String name) {
    return verdict(PUBLISHED, name)
        .get("breaks")
        .valueStream()
        .map(b -> b.get("property").asString() + " " + b.get("status").asString())
        .toList();
  }

  private static String general(String name) {
    boolean ok = verdict(PUBLISHED, name).get("general_ok").asBoolean();
    JsonNode verdict = verdict(GENERAL, name);
    String status = verdict.get("status").asString();
    assertThat(ok).as(verdict.toString()).isEqualTo(status.equals("correct"));
    return status;
  }

  @Test
  void honestModuleHoldsForAllVariations() {
    assertThat(holds("honest"))
        .containsExactly("batch_size", "dtype:bfloat16", "dtype:float16", "other_weights");
    assertThat(breaks("honest")).isEmpty();
    assertThat(general("honest")).isEqualTo("correct");
    assertThat(verdict(PUBLISHED, "honest").get("flags").toString())
        .doesNotContain("state_ignored");
  }

  @Test
  void valuesThatNoPublishedTestDrawsDecideAtTheGeneralGradeAlone() {
    assertThat(properties(verdict(PUBLISHED, "honest")).filter(ModuleGradesTest::isOfValues))
        .containsExactly("normal_values", "tiny_values", "wide_values", "zeros");
    assertThat(holds("identity")).contains("batch_size");
    assertThat(breaks("identity"))
        .containsExactly(
            "normal_values wrong_values",
            "tiny_values wrong_values",
            "wide_values wrong_values",
            "zeros wrong_values");
    assertThat(verdict(PUBLISHED, "identity").get("exe_ok").asBoolean()).isTrue();
    assertThat(general("identity")).isEqualTo("wrong_values");
    assertThat(verdict(GENERAL, "identity").get("exe_ok").asBoolean()).isTrue();
  }

  /** It writes rows that are not there; the rest is left as it was. */
  @Test
  void moduleForOneBatchSizeBreaksOnAnother() {
    assertThat(holds("batch")).doesNotContain("batch_size").contains("other_weights");
    assertThat(breaks("batch")).hasSize(1).first().asString().startsWith("batch_size ");
    assertThat(general("batch")).isNotEqualTo("correct");
  }

  @Test
  void moduleWithFoldedWeightsBreaksOnOtherWeights() {
    assertThat(holds("folded")).containsExactly("batch_size", "dtype:bfloat16", "dtype:float16");
    assertThat(breaks("folded")).containsExactly("other_weights wrong_values");
    assertThat(verdict(PUBLISHED, "folded").get("flags").toString()).contains("state_ignored");
    assertThat(general("folded")).isEqualTo("wrong_values");
  }

  /** Weights under another name cannot be changed alike: nothing is said, and nothing decided. */
  @Test
  void moduleWithRenamedParametersIsNotTestedForOtherWeights() {
    assertThat(holds("renamed")).containsExactly("batch_size", "dtype:bfloat16", "dtype:float16");
    assertThat(breaks("renamed")).isEmpty();
    assertThat(general("renamed")).isEqualTo("correct");
  }

  @Test
  void aModuleForFloat32BreaksOnOtherDtypes() {
    assertThat(holds("single")).containsExactly("batch_size", "other_weights");
    assertThat(breaks("single"))
        .containsExactly("dtype:float16 wrong_dtype", "dtype:bfloat16 wrong_dtype");
    assertThat(general("single")).isEqualTo("wrong_dtype");
  }

  /** The calls that are left are made in a new process, in their own dtype. */
  @Test
  void crashInOneDtypeDoesNotAffectTheOther() {
    assertThat(holds("exits")).containsExactly("batch_size", "dtype:bfloat16", "other_weights");
    assertThat(breaks("exits")).containsExactly("dtype:float16 crashed");
    assertThat(general("exits")).isEqualTo("crashed");
  }
}
