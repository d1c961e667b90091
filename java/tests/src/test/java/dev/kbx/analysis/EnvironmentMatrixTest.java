package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.EnvironmentMatrix.Change;
import dev.kbx.analysis.EnvironmentMatrix.Environment;
import dev.kbx.analysis.EnvironmentMatrix.Kernel;
import dev.kbx.analysis.EnvironmentMatrix.Kind;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.section.MatrixSection;
import dev.kbx.verdict.Status;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class EnvironmentMatrixTest {
  private static SimulatedRun under(String triton, int number) {
    return SimulatedRun.on(SimulatedRun.H200, number).triton(triton);
  }

  private static EnvironmentMatrix of(SimulatedRun... runs) {
    return EnvironmentMatrix.of(
        Arrays.stream(runs).map(run -> List.of(run.judged())).toList(),
        row -> "as " + row.status().label());
  }

  private static String text(EnvironmentMatrix matrix) {
    return new TerminalRenderer(120).render(MatrixSection.document(matrix));
  }

  @Test
  void firstVersionUnderWhichAKernelFailsIsNamed() {
    EnvironmentMatrix matrix =
        of(
            under("3.6.0", 1).correct("Math/exp", "e", 1.5).correct("Math/cos", "c", 1.5),
            under("3.7.1", 2).correct("Math/exp", "e", 1.5).correct("Math/cos", "c", 1.5),
            under("3.8.0", 3)
                .wrong("Math/exp", "e", Status.COMPILE_ERROR)
                .correct("Math/cos", "c", 1.5),
            under("3.9.0", 4)
                .wrong("Math/exp", "e", Status.COMPILE_ERROR)
                .correct("Math/cos", "c", 1.5));
    assertThat(matrix.environments())
        .extracting(Environment::label, Environment::correct)
        .containsExactly(
            tuple("triton 3.6.0", 2),
            tuple("triton 3.7.1", 2),
            tuple("triton 3.8.0", 1),
            tuple("triton 3.9.0", 1));
    assertThat(matrix.changes())
        .extracting(Change::task, Change::kind, Change::between, Change::since, Change::detail)
        .containsExactly(
            tuple(
                "exp", Kind.REGRESSED, "triton 3.7.1", "triton 3.8.0", "correct → compile_error"));
    assertThat(matrix.changes().getFirst().message()).isEqualTo("as compile_error");
    assertThat(matrix.kernels())
        .extracting(Kernel::task, Kernel::differs)
        .containsExactly(tuple("cos", null), tuple("exp", "triton 3.8.0"));
    assertThat(text(matrix))
        .contains("1 of 2 kernels are not everywhere as under triton 3.6.0; 1 became worse.");
  }

  @Test
  void kernelThatBecameRightIsNotWorse() {
    EnvironmentMatrix matrix =
        of(
            under("3.8.0", 1).wrong("Math/exp", "e", Status.WRONG_VALUES),
            under("3.9.0", 2).correct("Math/exp", "e", 1.5));
    assertThat(matrix.changes())
        .extracting(Change::kind, Change::message)
        .containsExactly(tuple(Kind.MENDED, "as wrong_values"));
    assertThat(text(matrix)).contains("0 became worse");
  }

  @Test
  void speedChangesIfItsIntervalsAreApart() {
    EnvironmentMatrix matrix =
        of(
            under("3.6.0", 1)
                .correct("Math/a", "a", 1.50)
                .correct("Math/b", "b", 1.50)
                .correct("Math/c", "c", 1.50),
            under("3.9.0", 2)
                .correct("Math/a", "a", 1.49)
                .correct("Math/b", "b", 1.20)
                .correct("Math/c", "c", 1.80));
    assertThat(matrix.timed()).isTrue();
    assertThat(matrix.changes())
        .extracting(Change::task, Change::kind, Change::detail)
        .containsExactly(
            tuple("b", Kind.SLOWER, "1.50× → 1.20×"), tuple("c", Kind.FASTER, "1.50× → 1.80×"));
    assertThat(text(matrix)).contains("1.50× [", "1.20× [");
  }

  /** A mean over other sizes is another figure. */
  @Test
  void speedsOverOtherSizesAreNotCompared() {
    EnvironmentMatrix matrix =
        of(
            under("3.6.0", 1).correct("Math/a", "a", 1.5, 4096),
            under("3.9.0", 2).correct("Math/a", "a", 0.5, 8192));
    assertThat(matrix.changes()).isEmpty();
  }

  @Test
  void failureOfKbxIsNoChangeOfTheKernel() {
    EnvironmentMatrix matrix =
        of(
            under("3.6.0", 1).correct("Math/a", "a", 1.5),
            under("3.9.0", 2).wrong("Math/a", "a", Status.INFRASTRUCTURE));
    assertThat(matrix.changes()).isEmpty();
    assertThat(matrix.environments().getLast().judged()).isZero();
    assertThat(text(matrix)).contains("infrastructure");
  }

  /** A bisection judges some of the environments, and there what differs. */
  @Test
  void environmentsThatWerePassedOverAreLeftOut() {
    SimulatedRun first = under("3.5.1", 1).correct("Math/a", "a", 1.5).correct("Math/b", "b", 1.5);
    SimulatedRun middle = under("3.7.1", 3).correct("Math/a", "a", 1.5);
    SimulatedRun last =
        under("3.9.0", 2).wrong("Math/a", "a", Status.RUNTIME_ERROR).correct("Math/b", "b", 1.5);
    EnvironmentMatrix matrix =
        EnvironmentMatrix.of(
            List.of(
                List.of(first.judged()),
                List.of(),
                List.of(middle.judged()),
                List.of(last.judged())),
            _ -> null);
    assertThat(matrix.environments())
        .extracting(Environment::label, Environment::judged)
        .containsExactly(
            tuple("triton 3.5.1", 2), tuple("triton 3.7.1", 1), tuple("triton 3.9.0", 2));
    assertThat(matrix.changes())
        .extracting(Change::between, Change::since)
        .containsExactly(tuple("triton 3.7.1", "triton 3.9.0"));
  }

  @Test
  void environmentsWithTheSameVersionsAreNumbered() {
    EnvironmentMatrix matrix =
        of(
            under("3.6.0", 1).correct("Math/a", "a", 1.5),
            under("3.6.0", 2).correct("Math/a", "a", 1.5));
    assertThat(matrix.environments())
        .extracting(Environment::label)
        .containsExactly("triton 3.6.0", "triton 3.6.0 #2");
  }
}
