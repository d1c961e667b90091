package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Bundled;
import dev.kbx.analysis.Contamination.Alike;
import dev.kbx.analysis.Contamination.Attempt;
import dev.kbx.analysis.Contamination.Copied;
import dev.kbx.analysis.Contamination.Mention;
import dev.kbx.analysis.Contamination.Trail;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sources that are alike, and those that only do the same. */
class ContaminationTest {
  private static final String KERNEL = read("tasks/kernelbenchx/Activation/kernels/tanh.py");
  private static final String OTHER = read("tasks/kernelbenchx/Activation/kernels/selu.py");

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Trail trail(int sample, String... sources) {
    Map<String, String> byAsk = new java.util.LinkedHashMap<>();
    for (String each : sources) byAsk.put("turn-" + byAsk.size(), each);
    String answer = "turn-" + (sources.length - 1);
    return new Trail(
        new Attempt("agent", "Activation/tanh", sample), byAsk, answer, 0, Map.of(), Map.of());
  }

  private static List<Alike> alike(Trail... trails) {
    return Contamination.of(List.of(trails), Map.of()).alike();
  }

  /** Of n tokens in a row there are n - 7 shingles; one token that differs is in 8 of them. */
  @Test
  void similarityIsJaccardsIndexOfEightTokensInARow() {
    Shingles one = Shingles.of("a b c d e f g h i j k l m n o p q r s t");
    Shingles other = Shingles.of("a b c d e f g h i X k l m n o p q r s t");
    assertThat(one.size()).isEqualTo(13);
    assertThat(one.shared(other)).isEqualTo(13 - 8);
    assertThat(one.similarity(other)).isCloseTo(5 / 21.0, within(1e-12));
    assertThat(Shingles.of("a b c").similarity(Shingles.of("a b c"))).isZero();
    assertThat(Shingles.of("a b c d e f g h # comment\n"))
        .isEqualTo(Shingles.of("a b c d e f g h"));
  }

  @Test
  void answerEqualToADraftOfAnotherAttemptIsFound() {
    assertThat(alike(trail(0, KERNEL, OTHER), trail(1, "x = 1\n" + KERNEL)))
        .singleElement()
        .satisfies(found -> {
          assertThat(found.attempt().sample()).isEqualTo(1);
          assertThat(found.otherAsk()).isEqualTo("turn-0");
          assertThat(found.similarity()).isGreaterThan(0.9);
        });
    assertThat(alike(trail(0, KERNEL), trail(1, OTHER))).isEmpty();
  }

  /** What the threshold rests on: two honest kernels of a task, and one with a line changed. */
  @Test
  void honestKernelsOfOneTaskAreNotAlikeAndChangedOnesAre() {
    List<Double> apart = new ArrayList<>();
    for (String suite : List.of("kernelbenchx", "serving")) {
      for (Task task : Bundled.suite(suite).find("*")) {
        List<Path> kernels = task.kernels();
        if (kernels.isEmpty()) continue;
        String first = read(kernels.getFirst().toString());
        String changed = first.replaceFirst("(?m)^    return (.*)$", "    return other($1)");
        if (!changed.equals(first)) {
          assertThat(Shingles.of(first).similarity(Shingles.of(changed)))
              .as(task.path())
              .isGreaterThan(Contamination.ALIKE);
        }
        if (kernels.size() < 2) continue;
        String second = read(kernels.getLast().toString());
        apart.add(Shingles.of(first).similarity(Shingles.of(second)));
      }
    }
    assertThat(apart).hasSizeGreaterThan(20).allMatch(each -> each < 0.5);
  }

  @Test
  void referenceInAnAnswerAndHiddenTextInATranscriptAreFound() {
    String reference = OTHER;
    Trail hidden =
        new Trail(
            new Attempt("agent", "Activation/tanh", 1),
            Map.of(),
            null,
            Contamination.COPIED,
            Map.of("ledger.jsonl", new Mention(2, "cat ledger.jsonl")),
            Map.of("proxy: GET /", 3));
    Contamination found =
        Contamination.of(
            List.of(trail(0, KERNEL + "\n" + reference), hidden),
            Map.of("Activation/tanh", reference));
    assertThat(found.copied()).extracting(Copied::of).containsExactly("reference", "task file");
    assertThat(found.named().getFirst().times()).isEqualTo(2);
    assertThat(found.refused().getFirst().times()).isEqualTo(3);
    assertThat(found.found()).isTrue();
    Contamination clean =
        Contamination.of(List.of(trail(0, KERNEL)), Map.of("Activation/tanh", reference));
    assertThat(clean.found()).isFalse();
  }
}
