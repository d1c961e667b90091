package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.VerdictRow;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;

/** The part of a verdict that analyses read gives the same rows as the whole. */
class BriefVerdictTest {
  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.H200, 1)
        .by("refine")
        .model("m")
        .round(2)
        .correct("Math/exp", "a", 1.5)
        .timed("Math/exp", "b", 1.5, 1.1, Double.NaN)
        .breaking("Math/exp", "c", "empty", "option:dim")
        .rejected("Math/exp", "d", "no-kernel")
        .saying("shape=(3,): 2 wrong elements")
        .wrong("Math/exp", "e", Status.WRONG_VALUES)
        .ofUnknownGrade("Math/exp", "f")
        .flagged("unproven_origin")
        .correct("Math/exp", "g", 1.5);
  }

  @Test
  void briefVerdictGivesEqualRows() {
    for (Verdict whole : run().verdicts()) {
      BriefVerdict brief = stored(BriefVerdict.of(whole));
      assertThat(brief).isEqualTo(BriefVerdict.of(whole));
      assertThat(VerdictRow.of(brief)).isEqualTo(VerdictRow.of(whole));
      assertThat(List.copyOf(VerdictRow.of(brief).baselines().keySet()))
          .as("in their order")
          .isEqualTo(List.copyOf(VerdictRow.of(whole).baselines().keySet()));
      assertThat(brief.stage()).isEqualTo(whole.judgement().stage());
      assertThat(brief.rule()).isEqualTo(whole.judgement().rule());
      assertThat(brief.message()).isEqualTo(whole.judgement().message());
    }
  }

  @Test
  void thoseStoredBeforeResultsWereProvenAreRead() {
    BriefVerdict now = BriefVerdict.of(run().verdicts().getLast());
    assertThat(now.unproven()).isTrue();
    String before = Json.mapper().writeValueAsString(now).replaceFirst(",true]$", "]");
    assertThat(BriefVerdict.read(before).unproven()).isFalse();
    assertThat(BriefVerdict.read(before).source()).isEqualTo(now.source());
  }

  /** A published result may have none. */
  @Test
  void verdictWithoutSourceIsRead() {
    Verdict published =
        Json.mapper()
            .readValue(
                """
                {"run":"r","source":"metrics.json:1","suite":"x","task":"t","category":"C",
                 "sample":0,"published":{"call_ok":false},"status":"failed","stage":"call",
                 "call_ok":false,"exe_ok":false,"flags":[],
                 "device":{"kind":"published","name":"not stated"},"versions":{},"seconds":{}}
                """,
                Verdict.class);
    assertThat(stored(BriefVerdict.of(published)).candidate()).isEmpty();
  }

  private static BriefVerdict stored(BriefVerdict brief) {
    String json = Json.mapper().writeValueAsString(brief);
    assertThat(Json.mapper().readValue(json, BriefVerdict.class)).isEqualTo(brief);
    return BriefVerdict.read(json);
  }

  @Test
  void largestSizeIsTheSlowestOfTheReference() {
    String text =
        """
        {"run":"r","candidate":"c","source":"s","suite":"x","task":"t","category":"C","sample":0,
         "status":"correct","stage":"perf","call_ok":true,"exe_ok":true,"perf_ok":true,"flags":[],
         "conditions":{"hardware":"true","shots":"one"},
         "features":{"structure":"ab","complexity":3,"lines":9,"techniques":["fusion"]},
         "speedup":{"value":2,"low":1.9,"high":2.1,"baseline":"eager"},
         "sizes":[
          {"shape":"b","candidate_ms":2,"reference_ms":4,"speedup":2,"low":1,"high":3,"rounds":8,
           "iou":0.5,"mfu":0.75,"gbs":100,"tflops":2,"intensity":20,"bound":"compute",
           "peak_bytes":400,"reference_peak_bytes":100},
          {"shape":"a","candidate_ms":1,"reference_ms":2,"speedup":2,"low":1,"high":3,"rounds":8,
           "iou":0.1,"bound":"memory","peak_bytes":100,"reference_peak_bytes":100}],
         "device":{"kind":"cuda","name":"GPU"},"versions":{},"seconds":{}}
        """;
    BriefVerdict brief = stored(BriefVerdict.of(Json.mapper().readValue(text, Verdict.class)));
    assertThat(brief.conditions()).containsEntry("hardware", "true");
    assertThat(brief.features()).isEqualTo(new SourceFeatures("ab", 3, 9, List.of("fusion")));
    BriefVerdict.Sizes sizes = Objects.requireNonNull(brief.sizes());
    assertThat(sizes.shapes()).containsExactly("a", "b");
    assertThat(sizes.candidateMs()).isEqualTo(3);
    assertThat(sizes.baselineMs()).isEqualTo(6);
    assertThat(sizes.memory()).as("geometric").isCloseTo(2, within(1e-12));
    BriefVerdict.Efficiency largest = Objects.requireNonNull(sizes.largest());
    assertThat(largest.shape()).isEqualTo("b");
    assertThat(largest.utilisation()).isEqualTo(0.75);
    assertThat(largest.bound()).isEqualTo(Verdict.Bound.COMPUTE);
  }

  @Test
  void unknownMemoryRatioIsNotOne() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).correct("Math/exp", "a", 1.5);
    BriefVerdict.Sizes sizes =
        Objects.requireNonNull(BriefVerdict.of(run.verdicts().getFirst()).sizes());
    assertThat(sizes.memory()).isNull();
    assertThat(sizes.largest()).isNull();
  }

  @Test
  void invalidJsonIsRefused() {
    String json = Json.mapper().writeValueAsString(BriefVerdict.of(run().verdicts().getFirst()));
    for (int i = 0; i < json.length(); i++) {
      String cut = json.substring(0, i);
      assertThatThrownBy(() -> BriefVerdict.read(cut)).isInstanceOf(JacksonException.class);
    }
    for (String other : List.of("{}", "null", "[null]", json.replace("perf", "before"))) {
      assertThatThrownBy(() -> BriefVerdict.read(other)).isInstanceOf(JacksonException.class);
    }
  }

  @Test
  void readsLibraryShares() {
    String text =
        """
        {"run":"r","candidate":"c","source":"s","suite":"x","task":"t","category":"C","sample":1,
         "status":"not_a_kernel","stage":"correct","evidence":"aten::mm","call_ok":true,
         "exe_ok":true,"flags":["scaled_inputs"],"kernels":[{"kernel":"k","arch":"sm_90"}],
         "without_policy":{"status":"correct","stage":"correct"},
         "origin":{"kernel_share":0.25,"operations":[{"name":"aten::mm","share":1}]},
         "device":{"kind":"cpu","name":"AMD"},"versions":{"kbx":"0"},"seconds":{"call":1}}
        """;
    Verdict whole = Json.mapper().readValue(text, Verdict.class);
    VerdictRow row = VerdictRow.of(stored(BriefVerdict.of(whole)));
    assertThat(row).isEqualTo(VerdictRow.of(whole));
    assertThat(row.kernelShare()).isEqualTo(0.25);
    assertThat(row.refusedByPolicy()).isTrue();
    assertThat(row.scaled()).isTrue();
  }
}
