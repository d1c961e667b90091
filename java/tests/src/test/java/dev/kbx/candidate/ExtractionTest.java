package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExtractionTest {
  private static final Task GELU =
      new Task(
          "s",
          "Activation",
          "gelu",
          "gelu",
          "gelu(x)",
          null,
          null,
          List.of(),
          false,
          "x",
          "",
          List.of(),
          null,
          Path.of("f"),
          null);

  private static final String CODE = "import torch\n\ndef gelu(x):\n    return torch.abs(x)\n";

  /** As Python such prose takes longer than the parser may. */
  @Test
  void kernelAfterSixtyKilobytesOfProseIsFound() {
    String prose = "Let me think about tiles. ".repeat(2_600);
    Extraction found = Extraction.of(prose + "\n```python\n" + CODE + "```\n", GELU);
    assertThat(found).isEqualTo(new Extraction(CODE, Extraction.FENCE, true));
  }

  @Test
  void marksWhereTheCodeBeginsAreNotPartOfIt() {
    for (String marked : List.of("\ufeff%s", "\n\ufeff%s", "```python\n \n\ufeff%s```")) {
      assertThat(Extraction.source(marked.formatted(CODE), GELU).parsed().text().strip())
          .isEqualTo(CODE.strip());
    }
    String quoted = CODE.replace("\n\n", "\nA = '\ufeff'\n");
    assertThat(Extraction.source(quoted, GELU).code()).isEqualTo(quoted);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "%s",
        "```python\n%s```",
        "```python\n%s```\n",
        "```\n%s```",
        "```py title=\"a.py\"\n%s```",
        "~~~triton\n%s~~~\nDone.",
        "````md\n%s````",
        "```python\n%s",
        "%s```\nThat is it.",
        "Sure! Here it is:\n\n```python\n%s```\n\nIt's fast, isn't it?",
        "%s<|im_end|>",
        "%s</s>\n",
        "%s<|EOT|>\n<|im_start|>user\nmore",
        "```python\n%s```<|im_end|>",
        "```python\n%s<|endoftext|>",
        "<|im_start|>assistant\n%s<|im_end|>",
        "<think>Maybe\n```python\ndef gelu(x): pass\n```\n</think>\n```python\n%s```",
        "<think>short</think>%s",
        "so I think ```x``` it is.\n</think>\n%s",
        "<think>\nnever closed\n```python\n%s```",
        "Draft:\n```python\ndef gelu(x): pass\n```\nBetter:\n```python\n%s```",
        "```python\n%s```\nUse:\n```python\ny = gelu(x)\nprint(y)\n```",
        "```bash\npip install triton\n```\n```python\n%s```",
        "```python\n%s```\n```python\ndef gelu(x:\n```",
        "\ufeff%s",
        "\ufeff```python\n%s```",
        "```python\n\ufeff%s```",
        "Here:\n\ufeff```python\n%s```",
        "<think>short</think>\ufeff%s",
        "<think>short</think>\n\n\ufeff```python\n\ufeff%s```",
        "It is:\n\ufeff%s\nThat is it, isn't it?",
      })
  void findsTheCode(String answer) {
    assertThat(Extraction.of(answer.formatted(CODE), GELU).code()).isEqualTo(CODE);
  }

  @Test
  void outdentsAnIndentedBlock() {
    String answer = "1. Code:\n\n   ```python\n" + CODE.indent(3) + "   ```\n";
    assertThat(Extraction.of(answer, GELU).code().strip()).isEqualTo(CODE.strip());
  }

  @Test
  void leavesPythonAlone() {
    String code =
        "def gelu(x):\n"
            + "    '''\n"
            + "    ```python\n"
            + "    def gelu(x): pass\n"
            + "    ```\n"
            + "    <think></think></s>'''\n";
    assertThat(Extraction.of(code, GELU).code()).isEqualTo(code);
  }

  @Test
  void joinsBlocksThatUseEachOthersNames() {
    String kernel = "import triton\n\n@triton.jit\ndef _kernel(x): pass\n";
    String other = "def unrelated(): pass\n";
    String wrapper = "def kernel_function(x):\n    _kernel[(1,)](x)\n";
    String answer = "```\n%s```\nand\n```\n%s```\nthen\n```\n%s```\n";
    assertThat(Extraction.of(answer.formatted(kernel, other, wrapper), GELU).code())
        .isEqualTo(kernel + wrapper);
    assertThat(Extraction.of(answer.formatted(wrapper, other, kernel), GELU).code())
        .isEqualTo(wrapper + kernel);
  }

  @Test
  void byteOrderMarksBeforeJoinedBlocksAreRemoved() {
    String kernel = "import triton\n\n@triton.jit\ndef _kernel(x): pass\n";
    String wrapper = "def kernel_function(x):\n    _kernel[(1,)](x)\n";
    String answer = "```\n\ufeff%s```\nthen\n```\n\ufeff%s```\n".formatted(kernel, wrapper);
    assertThat(Extraction.of(answer, GELU).code()).isEqualTo(kernel + wrapper);
    String quoted = "{\"code\": \"\\ufeffdef gelu(x):\\n    return x\\n\"}";
    assertThat(Extraction.of(quoted, GELU).code()).isEqualTo("def gelu(x):\n    return x\n");
  }

  @Test
  void byteOrderMarkInsideTheCodeIsKept() {
    String code = "import torch\n\ufeffdef gelu(x):\n    return x\n";
    assertThat(Extraction.source(code, GELU).code()).isEqualTo(code);
    assertThat(Extraction.source("\ufeff\ufeff" + CODE, GELU).code()).isEqualTo("\ufeff" + CODE);
  }

  @Test
  void takesTheLongestBlockIfNoneHasTheEntry() {
    assertThat(Extraction.of("```\na = 1\n```\n```\nbb = 2\ncc = 3\n```\n", GELU).code())
        .isEqualTo("bb = 2\ncc = 3\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  \n ", "```\n```", "```python", "<think></think>", "<|im_end|>"})
  void replyWithoutCodeIsBlank(String answer) {
    assertThat(Extraction.of(answer, GELU).code()).isBlank();
  }

  static Stream<Arguments> rules() {
    String entry = "def gelu(x): return x\n";
    String call = "def gelu(x): return k()\n";
    return Stream.of(
        arguments("whole", entry),
        arguments("fence", "```py\n" + entry + "```"),
        arguments("unclosed fence", "```\n" + entry),
        arguments("fences joined", "```\ndef k(): pass\n```\nand\n```\n" + call + "```"),
        arguments("json", "{\"code\": \"def gelu(x): return x\"}"),
        arguments("json", "```json\n{\"code\": \"def gelu(x): return x\"}\n```"),
        arguments("xml", "<answer>" + entry + "</answer>"),
        arguments("prose", "Here it is:\n" + entry + "That is all."),
        arguments("none", "I cannot import triton here, so I have no kernel for you."),
        arguments("none", "{\"strategy\": \"tile it\"}"),
        arguments("none", "```bash\npip install triton\n```"),
        arguments("none", ""));
  }

  @ParameterizedTest
  @MethodSource("rules")
  void namesTheExtractionRule(String rule, String reply) {
    Extraction found = Extraction.of(reply, GELU);
    assertThat(found.rule()).isEqualTo(rule);
    assertThat(found.found()).isEqualTo(!rule.equals("none"));
    assertThat(found.code().isEmpty()).isEqualTo(!found.found());
  }

  @Test
  void replyWithoutCodeIsJudgedAsItIs() {
    assertThat(Extraction.source("I have no kernel.", GELU).code()).isEqualTo("I have no kernel.");
  }

  @Test
  void prefersABlockThatParses() {
    String reply = "~~~python\ndef gelu(x:\n~~~\n{\"code\": \"def gelu(x):\\n    return x\\n\"}";
    assertThat(Extraction.of(reply, GELU).code()).isEqualTo("def gelu(x):\n    return x\n");
  }

  @Test
  void keepsCodeBeforeAThinkBlock() {
    assertThat(Extraction.of(CODE + "<think>Is it right?</think>\n", GELU).code().strip())
        .isEqualTo(CODE.strip());
  }

  static IntStream seeds() {
    return IntStream.range(0, 30);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void acceptsAnyMixOfMarkup(int seed) {
    List<String> marks =
        List.of(
            "```",
            "~~~",
            "````",
            "python",
            "\n",
            "   ",
            "<think>",
            "</think>",
            "<|im_end|>",
            "</s>",
            CODE);
    Random random = new Random(seed);
    for (int round = 0; round < 30; round++) {
      StringBuilder answer = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        answer.append(marks.get(random.nextInt(marks.size())));
      }
      assertThat(Extraction.of(answer.toString(), GELU).code()).isNotNull();
    }
  }
}
