package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernels of the suites, in all that models wrap code in. */
class ExtractionPropertiesTest {
  /** Every wrapper is tried around every kernel with {@code kbx.soak}, else around some kernels. */
  private static final int STEP = Boolean.getBoolean("kbx.soak") ? 1 : 16;

  /** How many times twelve combinations and twenty-five texts are drawn. */
  private static final int SEEDS = Boolean.getBoolean("kbx.soak") ? 10 : 6;

  /** CPU time: a limit on the clock would fail on a busy machine. */
  private static final double LONGEST_SECONDS = Boolean.getBoolean("kbx.soak") ? 20 : 5;

  private static final int LONG = Boolean.getBoolean("kbx.soak") ? 200_000 : 20_000;

  private static final List<Task> TASKS =
      Bundled.suite("kernelbenchx").tasks().stream()
          .filter(task -> Files.exists(task.kernel()))
          .toList();

  /** A wrapper of a reply's text; the number is its depth, for fences that must be longer. */
  private record Wrapper(String name, BiFunction<String, Integer, String> around) {}

  private static final List<Wrapper> WRAPPERS =
      List.of(
          fence("python"),
          fence("py"),
          fence(""),
          fence("triton"),
          fence("text title=\"kernel.py\""),
          new Wrapper("tildes", (code, depth) -> "~~~\n" + code + "~~~\n"),
          new Wrapper("json", (code, depth) -> json(Map.of("code", code))),
          new Wrapper(
              "strategy",
              (code, depth) ->
                  "{\"strategy\": \"one \\\"pass\\\": {fast}\", \"code\": %s}"
                      .formatted(json(code))),
          new Wrapper("raw json", (code, depth) -> "{\"code\": \"" + rawJson(code) + "\"}"),
          new Wrapper("dict", (code, depth) -> "{'strategy': 'no', 'code': " + repr(code) + "}"),
          element("code"),
          element("kernel"),
          element("answer"),
          new Wrapper(
              "attribute", (code, depth) -> "<code lang=\"python\">\n" + code + "</code>\n"),
          new Wrapper(
              "cdata",
              (code, depth) ->
                  "<kernel><![CDATA[" + code.replace("]]>", "]]]]><![CDATA[>") + "]]></kernel>\n"),
          new Wrapper(
              "escaped",
              (code, depth) ->
                  "<code>"
                      + code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                      + "</code>"),
          new Wrapper(
              "thought",
              (code, depth) -> "<think>\nA draft:\n```python\nx = 1\n```\n</think>\n\n" + code),
          new Wrapper("end token", (code, depth) -> code + "<|im_end|>\n"),
          new Wrapper("before", (code, depth) -> "Here is the kernel, isn't it fast:\n\n" + code),
          new Wrapper(
              "around",
              (code, depth) ->
                  "Sure. The kernel reads its input once.\n\n%s\n\nIt's correct, since the mask holds.\n"
                      .formatted(code)));

  /** Replies that end early, which nothing can be wrapped around. */
  private static final List<Wrapper> CUT_OFF =
      List.of(
          new Wrapper("unclosed", (code, depth) -> "`".repeat(depth + 3) + "python\n" + code),
          new Wrapper("unclosed tag", (code, depth) -> "Here:\n<answer>\n" + code),
          new Wrapper(
              "cut json", (code, depth) -> "{\"thought\": \"x\",\n \"code\": " + cut(json(code))));

  /** What nothing can be wrapped around. */
  private static final Wrapper JSON_STRING =
      new Wrapper("json string", (code, depth) -> json(code));

  private static Wrapper fence(String tag) {
    return new Wrapper(
        "fence " + tag,
        (code, depth) -> {
          String marks = "`".repeat(depth + 3);
          return marks + tag + "\n" + code + (code.endsWith("\n") ? "" : "\n") + marks + "\n";
        });
  }

  private static Wrapper element(String name) {
    return new Wrapper(name, (code, depth) -> "<%s>\n%s</%s>\n".formatted(name, code, name));
  }

  private static String json(Object value) {
    return Json.mapper().writeValueAsString(value);
  }

  private static String cut(String quoted) {
    return quoted.substring(0, quoted.length() - 1);
  }

  /** A JSON string whose line breaks are not escaped, which models write and JSON forbids. */
  private static String rawJson(String code) {
    return code.replace("\\", "\\\\").replace("\"", "\\\"");
  }

  /** As Python prints a string. */
  private static String repr(String code) {
    return "'" + code.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'";
  }

  private static String kernel(Task task) {
    try {
      return Files.readString(task.kernel());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void corpusHasKernelsToWrap() {
    assertThat(TASKS.size()).isGreaterThan(75);
  }

  static Stream<Task> tasks() {
    return IntStream.iterate(0, i -> i < TASKS.size(), i -> i + STEP).mapToObj(TASKS::get);
  }

  @ParameterizedTest
  @Tag("soak")
  @MethodSource("tasks")
  void eachWrapperReturnsTheKernel(Task task) {
    String kernel = kernel(task);
    for (Wrapper wrapper :
        Stream.of(WRAPPERS, CUT_OFF, List.of(JSON_STRING)).flatMap(List::stream).toList()) {
      assertFound(task, kernel, wrapper.around.apply(kernel, 0), List.of(wrapper.name));
    }
  }

  static IntStream seeds() {
    return IntStream.range(0, SEEDS);
  }

  @ParameterizedTest
  @Tag("soak")
  @MethodSource("seeds")
  void nestedWrappersReturnTheKernel(int seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 12; round++) {
      Task task = TASKS.get(random.nextInt(TASKS.size()));
      String kernel = kernel(task);
      List<String> names = new ArrayList<>();
      String reply = kernel;
      List<Wrapper> wrappers = new ArrayList<>(WRAPPERS);
      Collections.shuffle(wrappers, random);
      if (random.nextInt(3) == 0) {
        wrappers.add(1 + random.nextInt(2), CUT_OFF.get(random.nextInt(CUT_OFF.size())));
      }
      for (int depth = 0; depth < 1 + random.nextInt(3); depth++) {
        Wrapper wrapper = wrappers.get(depth);
        names.add(wrapper.name);
        reply = wrapper.around.apply(reply, depth);
        if (CUT_OFF.contains(wrapper)) break;
      }
      assertFound(task, kernel, reply, names);
    }
  }

  private static void assertFound(Task task, String kernel, String reply, List<String> wrappers) {
    Extraction found = Extraction.of(reply, task);
    assertThat(found.code().strip())
        .as("%s in %s", task.path(), wrappers)
        .isEqualTo(kernel.strip());
    assertThat(found.found()).isTrue();
  }

  /** Reading each character for each other one would take minutes; a parser gives up after 2 s. */
  @ParameterizedTest
  @Tag("soak")
  @MethodSource("hostile")
  void timeIsLinear(String unit) {
    String reply = unit.repeat(LONG / unit.length());
    assertSoon(reply);
  }

  private static void assertSoon(String reply) {
    long start = cpu();
    var _ = Extraction.of(reply, TASKS.getFirst());
    assertThat((cpu() - start) / 1e9).isLessThan(LONGEST_SECONDS);
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  static Stream<String> hostile() {
    return Stream.of("<think>", "```\na\n```\n", "\n", "'code': 'a", "<code>\n</kernel>", "</s> ");
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "`", "\\", "\"code\"", "\r", "x = ", "import a."})
  void longLinesAreRead(String unit) {
    String line = "```" + unit.repeat(LONG / unit.length()) + " `";
    assertSoon(line);
  }

  @ParameterizedTest
  @Tag("soak")
  @MethodSource("seeds")
  void acceptsAnyText(int seed) {
    List<String> units = new ArrayList<>(hostile().toList());
    units.addAll(List.of("{\"code\": ", "<code>", "\"\"\"", "```python\n", "def gelu(x):\n "));
    units.addAll(
        List.of(
            "\0",
            "\ud800",
            "é",
            "😀",
            "```json\n",
            "\\u00",
            "\\x4",
            "return",
            "|>",
            "<|im_end|>",
            "(",
            "```py "));
    Random random = new Random(seed);
    for (int round = 0; round < 25; round++) {
      StringBuilder reply = new StringBuilder();
      for (int i = random.nextInt(40); i > 0; i--) {
        reply.append(units.get(random.nextInt(units.size())));
        if (random.nextInt(5) == 0) reply.append((char) random.nextInt(0x10000));
      }
      Extraction found = Extraction.of(reply.toString(), TASKS.get(round));
      assertThat(found.found()).isEqualTo(!found.rule().equals("none"));
      if (!found.found()) assertThat(found.code()).isEmpty();
    }
  }
}
