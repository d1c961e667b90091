package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.plan.ServingProperty;
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

/** What serving needs is shown of correct candidates that are asked, and decides nothing. */
class ServingPropertiesTest {
  private static final String REFERENCE =
      """
      import torch


      def row_sum(x):
          return x.sum(dim=1)


      def inputs():
          return [torch.randn(8, 1000)]
      """;

  /** Sums of rows, by one program each. */
  private static final String BY_ROW =
      """
      import torch
      import triton
      import triton.language as tl


      %s@triton.jit
      def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
          row = tl.program_id(0).to(tl.int64)
          i = tl.arange(0, BLOCK)
          total = tl.zeros((BLOCK,), tl.float32)
          for start in range(0, n, BLOCK):
              total += tl.load(x_ptr + row * n + start + i, mask=start + i < n, other=0.0)
          tl.store(out_ptr + row, tl.sum(total))


      def row_sum(x):
          x = x.contiguous()
          out = torch.empty(x.shape[0], device=x.device)
          sums[(x.shape[0],)](x, out, x.shape[1]%s)
          return out
      """;

  private static final String TUNED =
      "@triton.autotune([triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': 1024})],"
          + " key=['n'])\n";

  /** The same, of parts of rows, which are added in the order in which programs end. */
  private static final String ATOMIC =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
          row, start = tl.program_id(0), tl.program_id(1) * BLOCK
          i = start + tl.arange(0, BLOCK)
          part = tl.sum(tl.load(x_ptr + row * n + i, mask=i < n, other=0.0))
          tl.atomic_add(out_ptr + row, part)


      def row_sum(x):
          x = x.contiguous()
          out = torch.zeros(x.shape[0], device=x.device)
          sums[(x.shape[0], triton.cdiv(x.shape[1], 64))](x, out, x.shape[1], BLOCK=64)
          return out
      """;

  /** The same in reverse order of programs, of a copy that others have made of the rows. */
  private static final String TWO_LAUNCHES =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def copy(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
          i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
          tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < size), mask=i < size)


      @triton.jit
      def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
          row = (tl.num_programs(0) - 1 - tl.program_id(0)).to(tl.int64)
          i = tl.arange(0, BLOCK)
          total = tl.zeros((BLOCK,), tl.float32)
          for start in range(0, n, BLOCK):
              total += tl.load(x_ptr + row * n + start + i, mask=start + i < n, other=0.0)
          tl.store(out_ptr + row, tl.sum(total))


      def row_sum(x):
          x = x.contiguous()
          copied = torch.empty_like(x)
          copy[(triton.cdiv(x.numel(), 1024),)](x, copied, x.numel(), BLOCK=1024)
          out = torch.empty(x.shape[0], device=x.device)
          sums[(x.shape[0],)](copied, out, x.shape[1], BLOCK=1024)
          return out
      """;

  /** The same with indices that wrap: other rows are read, and no tensor is left. */
  private static final String WRAPPED =
      BY_ROW
          .replace(
              "x_ptr + row * n + start + i", "x_ptr + (row * n).to(tl.uint32) %% 2**30 + start + i")
          .formatted("", ", BLOCK=128");

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> VERDICTS = new HashMap<>();

  @BeforeAll
  static void judge() throws Exception {
    Path reference = Files.writeString(folder.resolve("ref.py"), REFERENCE);
    Map<String, String> sources =
        Map.of(
            "steady",
            BY_ROW.formatted("", ", BLOCK=128"),
            "by_batch",
            BY_ROW.formatted("", ", BLOCK=1024 if x.shape[0] < 8 else 128"),
            "tuned",
            BY_ROW.formatted(TUNED, ""),
            "atomic",
            ATOMIC,
            "narrow",
            BY_ROW.replace(".to(tl.int64)", "").formatted("", ", BLOCK=128"),
            "wrapped",
            WRAPPED,
            "copied",
            BY_ROW.replace("x.contiguous()", "x.contiguous().clone()").formatted("", ", BLOCK=128"),
            "two_launches",
            TWO_LAUNCHES);
    List<Object> arguments = new ArrayList<>(List.of("eval", "--device", "cpu", "--json"));
    arguments.addAll(List.of("--reference", reference, "--out", folder.resolve("out")));
    arguments.addAll(List.of("--seed", Kbx.SEED, "--properties", "all"));
    for (var source : sources.entrySet()) {
      arguments.add(Files.writeString(folder.resolve(source.getKey() + ".py"), source.getValue()));
    }
    Kbx.Result result = Kbx.here(arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      VERDICTS.put(String.valueOf(source.getFileName()), verdict);
    }
  }

  private static List<String> holds(String name) {
    return names(name).get("holds").valueStream().map(JsonNode::asString).toList();
  }

  private static JsonNode names(String name) {
    return java.util.Objects.requireNonNull(VERDICTS.get(name + ".py"));
  }

  /** The properties that it breaks on, with what is said of each. */
  private static Map<String, String> breaks(String name) {
    return messages(name, "breaks");
  }

  /** Why nothing is known of properties. */
  private static Map<String, String> unknown(String name) {
    return messages(name, "unknown");
  }

  private static Map<String, String> messages(String name, String field) {
    Map<String, String> found = new HashMap<>();
    for (JsonNode each : names(name).get(field)) {
      found.put(each.get("property").asString(), each.get("message").asString());
    }
    return found;
  }

  @Test
  void rowsThatDoNotDependOnTheBatchHold() {
    assertThat(holds("steady")).contains("batch_invariant", "repeatable");
    assertThat(breaks("steady")).isEmpty();
  }

  @Test
  void anotherBlockForSmallBatchesBreaks() {
    // One row alone may have the same bits by chance.
    assertThat(breaks("by_batch").get("batch_invariant"))
        .matches(
            ".*: output: row \\d of [14] has other bits than the same row as number \\d+ of 257");
    assertThat(holds("by_batch")).contains("repeatable").doesNotContain("batch_invariant");
  }

  @Test
  void whatTuningChoosesBreaksRepetition() {
    assertThat(breaks("tuned").get("repeatable")).contains("with another configuration");
  }

  @Test
  void theOrderOfAtomicsBreaksRepetition() {
    assertThat(breaks("atomic").get("repeatable")).contains("in another order of its programs");
  }

  @Test
  void indicesOf64BitsHoldBeyondLargeTensors() {
    assertThat(holds("steady")).contains("large_index");
    assertThat(holds("by_batch")).contains("large_index");
  }

  @Test
  void anIndexOf32BitsThatLeavesItsTensorBreaks() {
    assertThat(breaks("narrow").get("large_index"))
        .contains("bytes before the beginning of x_ptr")
        .contains("line 12 of sums in program (");
    assertThat(holds("narrow")).doesNotContain("large_index");
  }

  @Test
  void anIndexThatLeadsToAnotherRowBreaks() {
    assertThat(breaks("wrapped").get("large_index")).contains("7 wrong elements of 7");
  }

  @Test
  void nothingIsSaidOfLargeTensorsWhereSomeProgramsDoNotTell() {
    for (String name : List.of("atomic", "copied", "two_launches")) {
      assertThat(holds(name)).as(name).contains("batch_invariant").doesNotContain("large_index");
      assertThat(breaks(name)).as(name).doesNotContainKey("large_index");
      assertThat(unknown(name)).as(name).containsKey("large_index");
    }
    assertThat(unknown("copied").get("large_index")).contains("clone");
    assertThat(unknown("steady")).doesNotContainKey("large_index");
  }

  @Test
  void allStayCorrectAtBothGrades() {
    for (JsonNode verdict : VERDICTS.values()) {
      assertThat(verdict.get("status").asString()).isEqualTo("correct");
      assertThat(verdict.get("general_ok").asBoolean()).as(verdict.toString()).isTrue();
    }
  }

  @Test
  void nothingIsKnownOfWhatNeedsAGpu() {
    assertThat(unknown("steady"))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("graph_safe", "needs a GPU", "stream_safe", "needs a GPU"));
    for (JsonNode verdict : VERDICTS.values()) {
      String shown = verdict.get("holds").toString() + verdict.get("breaks");
      assertThat(shown).doesNotContain("graph_safe", "stream_safe");
    }
  }

  @Test
  void propertiesThatThereAreNotAreRefused() throws Exception {
    Kbx.Result result = Kbx.here("eval", folder.resolve("steady.py"), "--properties", "fast");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains(
            "--properties: 'fast' is not one of " + String.join(",", ServingProperty.labels()));
  }
}
