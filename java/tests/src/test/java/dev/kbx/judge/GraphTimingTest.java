package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that wait for the host are timed as CUDA graphs. */
@Timeout(Patience.SECONDS)
class GraphTimingTest extends TimingCase {
  @Test
  void launchOverheadIsSeparate() throws Exception {
    Judgement verdict = brief("brief", Map.of());
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    var size = requireNonNull(verdict.sizes()).getFirst();
    assertThat(size.candidateMs()).isEqualTo(0.005);
    assertThat(size.referenceMs()).isEqualTo(0.01);
    var launched = requireNonNull(size.launched());
    assertThat(launched.candidateMs()).isEqualTo(0.02);
    assertThat(launched.referenceMs()).isEqualTo(0.04);
    assertThat(launched.speedup()).isCloseTo(2, within(1e-6));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "waiting; ; ",
        "moody; ; ",
        "stale_graph; ; replayed_wrong",
        "held; ; replayed_slow",
        "roomy; ; ",
        "brief; exit 3; not_recorded",
        "brief;"
            + " {\"type\":\"raised\",\"id\":$id,\"kind\":\"runtime\",\"exception\":\"RuntimeError\",\"message\":\"\",\"frames\":[],\"compiled\":[]};"
            + " not_recorded",
      })
  void unrecordableCallsAreTimedByLaunching(
      String task, @Nullable String answer, @Nullable String flag) throws Exception {
    Judgement verdict =
        brief(task, answer == null ? Map.of() : Map.of("record_calls", List.of(answer)));
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    var size = requireNonNull(verdict.sizes()).getFirst();
    assertThat(size.candidateMs()).isEqualTo(0.02);
    assertThat(size.launched()).isNull();
    assertThat(verdict.flags()).isEqualTo(flag == null ? List.of() : List.of(flag));
  }

  @ParameterizedTest
  @CsvSource({"6, 50,", "7, 50,", "33, 60, true"})
  void slowHostGetsMoreRunAhead(int flushes, double ms, @Nullable Boolean hostBound)
      throws Exception {
    var size = requireNonNull(judge("timed", Map.of("launching", flushes)).sizes()).getFirst();
    assertThat(size.candidateMs()).isEqualTo(ms);
    assertThat(size.hostBound()).isEqualTo(hostBound);
    assertThat(size.rounds()).isEqualTo(4);
  }

  @Test
  void batchSizeIsSetByTheSlowerSide() throws Exception {
    String claim = measured(30, 30, 30, 30);
    Judgement verdict = judge("outpaced", Map.of("measure", List.of(claim), "longer", 0.15));
    assertThat(verdict.status()).as("%s", verdict.message()).isEqualTo(Status.CORRECT);
    // Its graphs are quick, and are no more calls for it.
    assertThat(requireNonNull(verdict.sizes()).getFirst().launched()).isNotNull();
    assertThat(verdict.flags()).isEmpty();
  }

  @Test
  void candidateThatStarvesTheReferenceGraphsIsOutOfMemory() throws Exception {
    assertThat(brief("cramped", Map.of()).status()).isEqualTo(Status.OUT_OF_MEMORY);
  }

  @Test
  void runnerCannotDecideWhetherTheReferenceIsRecorded() throws Exception {
    String lacking =
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"unsupported\",\"exception\":\"\",\"message\":\"no"
            + " graphs here\",\"frames\":[],\"compiled\":[]}";
    Judgement refusing = brief("brief", Map.of("record_calls", List.of(lacking)));
    assertThat(refusing.flags()).containsExactly("not_recorded");
    Judgement next = brief("brief", Map.of());
    assertThat(requireNonNull(next.sizes()).getFirst().launched()).isNotNull();
  }

  @Test
  void recordedLibraryCallIsNotAKernel() throws Exception {
    String account =
        "{\"type\":\"calls_recorded\",\"id\":$id,\"seconds\":0,\"origins\":[{\"elements\":10,\"own\":0,"
            + "\"volume\":20,\"foreign\":20,\"operations\":[{\"name\":\"torch.relu\",\"line\":3,"
            + "\"elements\":20}],\"launches\":0,\"copies\":0,\"used\":false}]}";
    Judgement verdict = brief("brief", Map.of("record_calls", List.of(account)));
    assertThat(verdict.status()).isEqualTo(Status.NOT_A_KERNEL);
    assertThat(verdict.evidence()).startsWith("policy: recorded at n=1").contains("torch.relu");
  }

  @Test
  void operationsSeenOnlyInTimedCallsAreEvidence() throws Exception {
    String timed =
        measured(0.04, 0.04, 0.04, 0.04)
            .replace("{\"type", "{\"ran\":[[\"tanh\"],[],[\"tanh\"],[]],\"type");
    Judgement hiding = judge("brief", Map.of("measure", List.of(timed)));
    assertThat(hiding.status()).isEqualTo(Status.CHEATING);
    assertThat(hiding.evidence()).contains("at n=1, timed calls run", "do not: tanh");
    String watched =
        "{\"type\":\"returned\",\"id\":$id,\"value\":{\"t\":\"none\"},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[],\"ran\":[\"tanh\"],\"origin\":{\"elements\":0,\"own\":0,\"volume\":0,\"foreign\":0,"
            + "\"operations\":[],\"launches\":0,\"copies\":0,\"used\":false}}";
    Judgement open =
        judge("brief", Map.of("measure", List.of(timed), "timed_call", List.of(watched)));
    assertThat(open.status()).isEqualTo(Status.CORRECT);
  }

  @Test
  void graphsThatTakeNoTimeAreEvidence() throws Exception {
    String nothing = measured(1e-4, 1e-4, 1e-4, 1e-4);
    Judgement verdict = brief("brief", Map.of("replay_calls", List.of(nothing)));
    assertThat(verdict.evidence()).contains("nothing at all");
  }
}
