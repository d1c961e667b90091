package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code --policy}: whose work may be in a result. Both runs share a folder, and so a memory. */
class PoliciesTest {
  private static final List<String> CHEATS =
      List.of("epilogue_only", "library_call", "decoy_unused", "hidden_in_rot13");

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> KERNEL = new HashMap<>();
  private static final Map<String, JsonNode> MIXED = new HashMap<>();

  @BeforeAll
  static void judge() throws Exception {
    judge(KERNEL);
    judge(MIXED, "--policy", "mixed");
  }

  private static List<Object> eval(String... options) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    CHEATS.forEach(name -> arguments.add(Kbx.home().resolve("corpus/cheats").resolve(name)));
    arguments.addAll(List.of("--device", "cpu", "--seed", Kbx.SEED, "--out", folder));
    arguments.addAll(List.of(options));
    return arguments;
  }

  private static void judge(Map<String, JsonNode> into, String... options) {
    List<Object> arguments = eval(options);
    arguments.add("--json");
    Kbx.Result result = Kbx.here(arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      into.put(requireNonNull(source.getParent()).getFileName().toString(), verdict);
    }
  }

  private static JsonNode verdict(Map<String, JsonNode> verdicts, String name) {
    return requireNonNull(verdicts.get(name));
  }

  private static String status(Map<String, JsonNode> verdicts, String name) {
    return verdict(verdicts, name).get("status").asString();
  }

  private static List<String> flags(String name) {
    return verdict(MIXED, name).get("flags").valueStream().map(JsonNode::asString).toList();
  }

  @Test
  void eachVerdictHasItsPolicy() {
    assertThat(KERNEL.values()).allMatch(v -> v.get("policy").asString().equals("kernel"));
    assertThat(MIXED.values()).allMatch(v -> v.get("policy").asString().equals("mixed"));
  }

  @Test
  void pyTorchProductIsAllowedAtPolicyMixed() {
    JsonNode kernel = verdict(KERNEL, "epilogue_only");
    assertThat(kernel.get("status").asString()).isEqualTo("rejected_static");
    assertThat(kernel.get("without_policy").get("status").asString()).isEqualTo("correct");
    JsonNode mixed = verdict(MIXED, "epilogue_only");
    assertThat(mixed.get("status").asString()).as(mixed.toString()).isEqualTo("correct");
    assertThat(mixed.get("origin").get("foreign_share").asDouble()).isGreaterThan(0.5);
    assertThat(flags("epilogue_only")).contains("library-call");
  }

  @Test
  void copyOfTheReferenceIsNotAKernelAtAnyPolicy() {
    assertThat(status(KERNEL, "library_call")).isEqualTo("rejected_static");
    JsonNode mixed = verdict(MIXED, "library_call");
    assertThat(mixed.get("status").asString()).isEqualTo("not_a_kernel");
    assertThat(mixed.get("evidence").asString()).startsWith("policy: no kernel of this file ran");
    assertThat(mixed.get("exe_ok").asBoolean()).isTrue();
    assertThat(mixed.get("origin").get("foreign_share").asDouble()).isEqualTo(1);
    assertThat(flags("library_call")).contains("no-kernel");
  }

  @Test
  void cheatingIsRefusedAtAnyPolicy() {
    assertThat(status(MIXED, "decoy_unused")).isEqualTo("cheating");
    assertThat(verdict(MIXED, "hidden_in_rot13").get("rule").asString()).isEqualTo("hidden-code");
  }

  @Test
  void outputsNameThePolicy() throws Exception {
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("<dt>Policy</dt><dd>mixed</dd>")
        .contains("policy mixed");
    assertThat(Files.readString(folder.resolve("summary.json"))).contains("\"policy\"");
  }

  @Test
  void resumeRefusesAnotherPolicy() throws Exception {
    Kbx.Result result = Kbx.here(eval("--resume", "--policy", "kernel").toArray());
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("with --policy mixed", "with --policy kernel");
  }

  @Test
  void promptsNameThePolicy() throws Exception {
    assertThat(Kbx.here("tasks", "show", "relu", "--prompt").out()).contains("Policy `kernel`: ");
    assertThat(Kbx.here("tasks", "show", "relu", "--prompt", "--policy", "mixed").out())
        .contains(
            "Policy `mixed`: write Triton kernels\n"
                + "in that file for the parts that you can make faster");
    assertThat(Kbx.here("tasks", "show", "relu", "--policy", "mixed").err())
        .contains("--policy: is about the prompt; add --prompt");
  }

  @Test
  void checkNamesLibraryWorkAtEachPolicy() throws Exception {
    Path file = Kbx.home().resolve("corpus/cheats/library_call/selu.py");
    assertThat(Kbx.here("check", file, "--strict").exit()).isEqualTo(ExitCode.USAGE);
    Kbx.Result mixed = Kbx.here("check", file, "--strict", "--policy", "mixed");
    assertThat(mixed.exit()).isZero();
    assertThat(mixed.out()).contains("no-kernel");
  }

  @Test
  void unknownPolicyIsRefused() throws Exception {
    assertThat(Kbx.here(eval("--policy", "any").toArray()).err())
        .contains("--policy: 'any' is not one of kernel,mixed");
  }
}
