package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Portability.LeftOut;
import dev.kbx.analysis.Portability.Reason;
import dev.kbx.section.PortabilitySection;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Status;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortabilityTest {
  private static Portability of(SimulatedRun... runs) {
    return Portability.of(judged(runs));
  }

  private static List<JudgedRun> judged(SimulatedRun... runs) {
    return Arrays.stream(runs).map(SimulatedRun::judged).toList();
  }

  private static SimulatedRun h200() {
    return SimulatedRun.on(SimulatedRun.H200, 1);
  }

  private static SimulatedRun a100() {
    return SimulatedRun.on(SimulatedRun.A100, 2);
  }

  @Test
  void kernelIsComparedOnItsFastestAndSlowestDevice() {
    Portability portability =
        of(
            h200().correct("Math/exp", "e", 1.5).correct("Activation/gelu", "g", 0.9),
            a100().correct("Math/exp", "e", 1.0).correct("Activation/gelu", "g", 1.8));
    assertThat(portability.kernels())
        .extracting(Portability.Kernel::task)
        .containsExactly("gelu", "exp");
    var gelu = portability.kernels().getFirst().maxOverMin();
    assertThat(gelu.value()).isCloseTo(2, within(1e-9));
    assertThat(gelu.low()).isBetween(1.96, 2.0);
    assertThat(gelu.high()).isBetween(2.0, 2.04);
    assertThat(gelu.slowest()).isEqualTo("A");
    assertThat(gelu.fastest()).isEqualTo("B");
    assertThat(requireNonNull(portability.overall()).mean().value())
        .isCloseTo(Math.sqrt(3), within(1e-9));
    assertThat(requireNonNull(portability.overall()).toldApart()).isEqualTo(2);
  }

  @Test
  void differentSoftwareVersionsAreNamed() {
    SimulatedRun newer = a100().triton("3.8.0").correct("Math/exp", "e", 1.0);
    Portability portability = of(h200().correct("Math/exp", "e", 1.5), newer);
    assertThat(portability.devices().getLast().versions().get("triton")).containsExactly("3.8.0");
    assertThat(SectionText.of(100, PortabilitySection.of(portability)))
        .contains("Software differs: triton A 3.7.1, B 3.8.0.");
    Portability alike =
        of(h200().correct("Math/exp", "e", 1.5), a100().correct("Math/exp", "e", 1.0));
    assertThat(SectionText.of(100, PortabilitySection.of(alike)))
        .doesNotContain("Software differs");
  }

  /**
   * A device three times as fast runs baseline and kernel alike: nothing is gained by the kernel.
   */
  @Test
  void fasterDeviceAloneIsNotAGain() {
    Portability portability =
        of(h200().correct("Math/exp", "e", 1.2), a100().correct("Math/exp", "e", 1.2));
    assertThat(portability.kernels().getFirst().maxOverMin().value()).isCloseTo(1, within(1e-9));
    assertThat(requireNonNull(portability.overall()).toldApart()).isZero();
  }

  @Test
  void slowerSharesAreOfIncludedKernels() {
    SimulatedRun first = h200();
    SimulatedRun second = a100();
    IntStream.range(0, 10)
        .forEach(i -> {
          first.correct("Math/m" + i, "m" + i, i < 2 ? 0.8 : 1.5);
          second.correct("Math/m" + i, "m" + i, i < 5 ? 0.8 : 1.5);
        });
    first.correct("Math/only_here", "o", 0.5);
    Portability portability = of(first, second);
    var slower = requireNonNull(portability.devices().getFirst().slower());
    assertThat(slower.kernels()).isEqualTo(2);
    assertThat(slower.of()).isEqualTo(10);
    assertThat(slower.high()).isEqualTo(new Rate(2, 10).high());
    assertThat(requireNonNull(portability.devices().getLast().slower()).share()).isEqualTo(0.5);
  }

  @Test
  void excludedKernelsHaveAReason() {
    Portability portability =
        of(
            h200()
                .correct("Math/a", "a", 1.1)
                .correct("Math/b", "b", 1.1)
                .correct("Math/c", "c", 1.1)
                .correct("Math/d", "d", 85, 4096)
                .correct("Math/e", "e", 1.1),
            a100()
                .correct("Math/a", "a", 1.1)
                .wrong("Math/b", "b", Status.WRONG_VALUES)
                .wrong("Math/c", "c", Status.INFRASTRUCTURE)
                .correct("Math/d", "d", 1.2)
                .correct("Math/e", "another e", 1.1));
    assertThat(portability.entered()).isEqualTo(1);
    assertThat(portability.rows()).isEqualTo(6);
    assertThat(portability.leftOut())
        .extracting(LeftOut::task, LeftOut::reason, LeftOut::devices)
        .containsExactlyInAnyOrder(
            tuple("b", Reason.NOT_CORRECT, List.of("B")),
            tuple("c", Reason.NOT_JUDGED, List.of("B")),
            tuple("d", Reason.DIFFERENT_SIZES, List.of("B")),
            tuple("e", Reason.NOT_JUDGED, List.of("B")),
            tuple("e", Reason.NOT_JUDGED, List.of("A")));
    assertThat(SectionText.of(80, PortabilitySection.of(portability)))
        .contains(
            "1 of 6 kernels entered",
            "Left out, not judged: 3 (A 1, B 2).",
            "Left out, not correct: 1 (B 1).");
  }

  @Test
  void generalRateIsShownBesideIncludedKernels() {
    Portability portability =
        of(
            h200()
                .correct("Math/a", "a", 1.1)
                .correct("Math/b", "b", 1.1)
                .correct("Math/c", "c", 1),
            a100()
                .correct("Math/a", "a", 1.1)
                .notGeneral()
                .correct("Math/b", "b", 1.2)
                .wrong("Math/c", "c", Status.WRONG_VALUES));
    assertThat(portability.entered()).isEqualTo(2);
    assertThat(requireNonNull(portability.general()).correct()).isEqualTo(1);
    assertThat(portability.kernels())
        .extracting(Portability.Kernel::general)
        .containsExactly(true, false);
    assertThat(SectionText.of(100, PortabilitySection.of(portability)))
        .contains("At the general grade 1 of the 2 hold on all devices, 50.0 % [9–91].");
  }

  @Test
  void unknownGeneralRateIsNamed() {
    Portability portability =
        of(h200().correct("Math/a", "a", 1.1), a100().unknownGrades().correct("Math/a", "a", 1.2));
    assertThat(portability.general()).isNull();
    assertThat(SectionText.of(100, PortabilitySection.of(portability)))
        .contains("How many of them hold at the general grade is not known.");
  }

  @Test
  void twoCardsOfOneModelAreTwoDevices() {
    Portability portability =
        of(
            h200().correct("Math/exp", "e", 1.2),
            SimulatedRun.on(SimulatedRun.OTHER_H200, 2).correct("Math/exp", "e", 1.3));
    assertThat(portability.devices()).hasSize(2);
    assertThat(SectionText.of(100, PortabilitySection.of(portability)))
        .contains("A and B have one name, NVIDIA H200, and different UUIDs");
  }

  /** A run over several GPUs times each kernel on one of them, and must compare all the same. */
  @Test
  void cardsOfOneRunAreOneDevice() {
    SimulatedRun twoCards =
        h200()
            .correct("Math/a", "a", 1.2)
            .then(SimulatedRun.OTHER_H200)
            .correct("Math/b", "b", 1.3);
    Portability portability =
        of(twoCards, a100().correct("Math/a", "a", 1.2).correct("Math/b", "b", 1.2));
    assertThat(portability.entered()).isEqualTo(2);
    assertThat(portability.devices().getFirst().cards()).hasSize(2);
    assertThat(SectionText.of(100, PortabilitySection.of(portability)))
        .contains("2 × NVIDIA H200", "A is 2 GPUs of one name, used by one run");
  }

  @Test
  void theLaterRunOnADeviceCounts() {
    SimulatedRun again =
        SimulatedRun.on(SimulatedRun.H200, 9)
            .correct("Math/a", "a", 1.4)
            .wrong("Math/b", "b", Status.INFRASTRUCTURE);
    SimulatedRun before = h200().correct("Math/a", "a", 2.9).correct("Math/b", "b", 1.1);
    SimulatedRun other = a100().correct("Math/a", "a", 1.4).correct("Math/b", "b", 1.1);
    Portability portability = of(again, before, other);
    assertThat(portability.devices().getFirst().runs()).containsExactly(again.id(), before.id());
    assertThat(portability.kernels().getFirst().speedups().getFirst().run()).isEqualTo(again.id());
    assertThat(portability.entered()).as("an accident of ours replaces no verdict").isEqualTo(2);
  }

  @Test
  void otherBaselinesAreRefused() {
    assertThatThrownBy(() ->
            of(
                h200().correct("Math/exp", "e", 1.2),
                a100().against("compile").correct("Math/exp", "e", 1.2)))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageContaining("against eager")
        .hasMessageContaining("against compile");
  }

  @Test
  void bestOfSeveralBaselinesIsOneBaseline() {
    Portability portability =
        of(
            h200().against("best (compile)").correct("Math/exp", "e", 1.2),
            a100().against("best (eager)").correct("Math/exp", "e", 1.2));
    assertThat(portability.baseline()).isEqualTo("best");
    assertThat(portability.entered()).isEqualTo(1);
  }

  @Test
  void runsWithoutTimingsAndSingleDevicesAreRefused() {
    SimulatedRun cpu = SimulatedRun.on(SimulatedRun.CPU, 3).correct("Math/exp", "e", 1);
    assertThatThrownBy(() -> of(h200().correct("Math/exp", "e", 1.2), cpu))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageContaining(cpu.id())
        .hasMessageContaining("the run used no GPU (AMD EPYC)");
    assertThatThrownBy(() -> of(h200().correct("Math/exp", "e", 1.2)))
        .hasMessageContaining("one device, NVIDIA H200 GPU-5bd02c7a");
  }

  @Test
  void noCommonKernelGivesOneNoteOnly() {
    Portability portability =
        of(h200().correct("Math/exp", "e", 1.2), a100().correct("Math/exp", "another", 1.2));
    assertThat(portability.overall()).isNull();
    assertThat(SectionText.of(80, PortabilitySection.of(portability)))
        .contains("0 of 2 kernels entered", "Left out, not judged: 2 (A 1, B 1).")
        .doesNotContain("max ÷ min");
  }
}
