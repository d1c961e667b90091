package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code kbx bench cheats}: no bundled cheat gets through, no honest kernel is turned away.
 *
 * <p>Static rules look at all files. A sample of every kind is judged at the general grade, and at
 * the published grade a third of those that might end otherwise there, one of each ending at least.
 * With the property {@code kbx.soak}, a quarter of each kind is judged at the general grade, and at
 * the published one also some of those that must end alike; {@code --every 1} judges all.
 * SuiteControlsTest judges the suite's own kernels.
 */
@Tag("soak")
class CheatsTest {
  private static final boolean SOAK = Boolean.getBoolean("kbx.soak");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * The sample's share: one file in so many of a kind, and at least one. Files of one folder are of
   * one kind if they may end alike; in the soak test only those of one group.
   */
  private static final int STEP = SOAK ? 4 : 20;

  /** One in so many of those that might end otherwise at the published grade is judged there. */
  private static final int OTHERWISE_STEP = SOAK ? 1 : 3;

  /** One in so many of those that end alike at both grades is judged at both in the soak test. */
  private static final int ALIKE_STEP = 8;

  /** Flags that the task has, whatever the candidate does. */
  private static final Set<String> OF_THE_TASK = Set.of("scaled_inputs", "degenerate_task");

  /** How endless files end, whatever the limit: it need not be one in which others can end. */
  private static final String ENDLESS = "timeout";

  private static final int LIMIT_SECONDS = 25;
  private static final int ENDLESS_LIMIT_SECONDS = 3;

  private static final Pattern ENDING = Pattern.compile("^dynamic: (.+)$", Pattern.MULTILINE);

  @TempDir private static Path folder;
  private static Kbx.Result statics;
  private static Kbx.Result general;
  private static Kbx.Result endless;

  @BeforeAll
  static void judgeAtTheGeneralGrade() throws Exception {
    statics = run("static", List.of(), "--static-only", "--output", folder.resolve("page.md"));
    Map<Boolean, List<String>> sample = byBeingEndless(sample());
    general = judge("general", requireNonNull(sample.get(false)), LIMIT_SECONDS);
    endless = judge("endless", requireNonNull(sample.get(true)), ENDLESS_LIMIT_SECONDS);
  }

  private static Map<Boolean, List<String>> byBeingEndless(List<String> sources) {
    return sources.stream().collect(Collectors.partitioningBy(s -> ending(s).equals(ENDLESS)));
  }

  private static String ending(String source) {
    try {
      Matcher ending = ENDING.matcher(Files.readString(Kbx.home().resolve(source)));
      return ending.find() ? ending.group(1) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> sample() {
    Map<String, Object> kinds = new LinkedHashMap<>();
    for (JsonNode trial : trials("static")) {
      if (kind(trial).equals("kernel")) continue;
      kinds.put(source(trial), kindOf(trial, ending(source(trial))));
    }
    return Samples.ofEachKind(kinds.keySet(), STEP, source -> requireNonNull(kinds.get(source)));
  }

  private static Object kindOf(JsonNode trial, String endings) {
    if (SOAK) return List.of(kind(trial), trial.path("group"), endings);
    return List.of(kind(trial), endings.split(" \\| ", 2)[0]);
  }

  /** Results are in a folder of that name. */
  private static Kbx.Result judge(String name, List<String> files, int limitSeconds) {
    String grade = name.equals("published") ? "published" : "general";
    return run(
        name, files, "--grade", grade, "--jobs", 2, "--timeout", limitSeconds, "--seed", Kbx.SEED);
  }

  private static Kbx.Result run(String name, List<String> files, Object... options) {
    List<Object> arguments = new ArrayList<>(List.of("bench", "cheats"));
    arguments.addAll(files);
    arguments.addAll(List.of("--device", "cpu", "--out", folder.resolve(name)));
    arguments.addAll(List.of(options));
    return Kbx.here(arguments.toArray());
  }

  private static List<JsonNode> trials(String name) {
    Path file = folder.resolve(name).resolve("cheats.json");
    return JSON.readTree(file.toFile()).get("trials").valueStream().toList();
  }

  private static String kind(JsonNode trial) {
    return trial.get("kind").asString();
  }

  private static String source(JsonNode trial) {
    return trial.get("source").asString();
  }

  @Test
  void eachFileIsRejectedByExactlyTheExpectedRule() throws Exception {
    assertThat(statics.exit()).as(differing(statics)).isZero();
    List<JsonNode> trials = trials("static");
    assertThat(trials.stream().map(CheatsTest::source).distinct())
        .hasSizeGreaterThan(350)
        .hasSize(trials.size());
    String page = Files.readString(folder.resolve("page.md"));
    String kept = Files.readString(Kbx.home().resolve("docs/cheats.md"));
    for (JsonNode trial : trials) {
      if (!kind(trial).equals("cheat")) continue;
      assertThat(page).contains(source(trial));
      assertThat(kept).as("docs/cheats.md, made by --output").contains(source(trial));
    }
  }

  @Test
  void cheatsAreRejectedAndHonestKernelsAccepted() {
    assertThat(general.exit()).as(differing(general)).isZero();
    assertThat(trials("general"))
        .hasSizeGreaterThan(SOAK ? 120 : 30)
        .allMatch(trial -> trial.has("ended"), "was run");
    assertThat(endless.exit()).as(differing(endless)).isZero();
    assertThat(trials("endless"))
        .isNotEmpty()
        .allMatch(trial -> trial.get("ended").asString().equals(ENDLESS));
  }

  @Test
  void cheatsAreRejectedAtThePublishedGrade() throws Exception {
    Map<Boolean, List<String>> byEndingAlike =
        judgedAtTheGeneralGrade().stream()
            .collect(
                Collectors.partitioningBy(
                    CheatsTest::endsAlikeAtThePublishedGrade,
                    Collectors.mapping(v -> v.provenance().source(), Collectors.toList())));
    List<String> otherwise = requireNonNull(byEndingAlike.get(false)).stream().sorted().toList();
    assertThat(otherwise).hasSizeGreaterThan(SOAK ? 20 : 4);
    List<String> files = Samples.ofEachKind(otherwise, OTHERWISE_STEP, CheatsTest::ending);
    assertThat(files)
        .allMatch(source -> source.contains("corpus/"), "has a header, as no suite's kernel has");
    if (SOAK) {
      List<String> alike = requireNonNull(byEndingAlike.get(true)).stream().sorted().toList();
      files.addAll(Samples.ofEachKind(alike, ALIKE_STEP, _ -> true));
    }
    Kbx.Result published = judge("published", files.stream().sorted().toList(), LIMIT_SECONDS);
    assertThat(published.exit()).as(differing(published)).isZero();
  }

  private static List<Verdict> judgedAtTheGeneralGrade() {
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("general/kbx.db")))) {
      return store.runs().stream()
          .flatMap(run -> store.verdicts(run.id()).values().stream())
          .toList();
    }
  }

  /**
   * Whether a verdict of the general grade says how its file ends at the published one, which makes
   * and judges the same calls first, on the same inputs, and then decides.
   *
   * <p>What failed before the calls beyond the published grade ends there in the same way. What is
   * right in all calls is right in those, and all its own work if PyTorch did nothing in any.
   */
  private static boolean endsAlikeAtThePublishedGrade(Verdict verdict) {
    if (verdict.judgement().status() != Status.CORRECT) return verdict.judgement().holds() == null;
    Verdict.Origin origin = verdict.judgement().origin();
    return OF_THE_TASK.containsAll(verdict.judgement().flags())
        && origin != null
        && origin.kernelShare() == 1
        && origin.operations().isEmpty();
  }

  /** What ended otherwise, without the hundreds of lines of progress around it. */
  private static String differing(Kbx.Result result) {
    List<String> said = result.err().lines().toList();
    return result.out().substring(result.out().indexOf("\n\n") + 1)
        + String.join("\n", said.subList(Math.max(0, said.size() - 5), said.size()));
  }

  private static Kbx.Result judgeOne(String rule, String ending) throws Exception {
    Path file = folder.resolve("corpus/tail/relu.py");
    Files.createDirectories(file.resolve("..").normalize());
    String code =
        """
        \"""Computes nothing.

        mechanism: semantics/zero-answer
        static: %s
        dynamic: %s
        \"""
        import torch

        def relu(input, inplace=False):
            return torch.zeros_like(input)
        """
            .formatted(rule, ending);
    Files.writeString(file, code);
    return Kbx.here(
        "bench",
        "cheats",
        folder.resolve("corpus"),
        "--device",
        "cpu",
        "--jobs",
        1,
        "--out",
        folder.resolve("kbx-out"));
  }

  @Test
  void fileWithAnUnexpectedVerdictIsNamed() throws Exception {
    Kbx.Result result = judgeOne("never-quantizes", "timeout");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out())
        .contains("corpus/tail/relu.py: static: rejected by", "must be by never-quantizes")
        .contains("corpus/tail/relu.py: ended as wrong_values, must be timeout")
        .contains("1 of 1 files end differently");
  }

  @Test
  void malformedHeaderIsAOneLineError() throws Exception {
    Kbx.Result result = judgeOne("none", "wrong_numbers");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("corpus/tail/relu.py: 'dynamic: wrong_numbers' names no status")
        .hasLineCount(1);
  }
}
