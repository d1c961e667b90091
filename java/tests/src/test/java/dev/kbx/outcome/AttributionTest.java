package dev.kbx.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.RunnerMessage.Operation;
import dev.kbx.worker.RunnerMessage.Origin;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whose work a result is, added up over calls, and what is too much of others'. */
class AttributionTest {
  private static final Task TASK =
      new Task(
          "suite",
          "Math",
          "abs",
          "abs",
          "abs(x)",
          null,
          null,
          List.of(),
          false,
          "",
          "",
          List.of(),
          null,
          Path.of("abs.py"),
          null);

  private final Attribution origins = new Attribution();

  private static Origin call(long elements, double own, long foreign, Operation... operations) {
    return new Origin(
        elements, own, 2 * elements, foreign, List.of(operations), own > 0 ? 1 : 0, 0, own > 0);
  }

  /** A call that launches kernels, and whose result is PyTorch's alone. */
  private static Origin beside(boolean used) {
    List<Operation> operations = List.of(new Operation("torch.matmul", 31, 2000));
    return new Origin(1000, 0, 2000, 2000, operations, 2, 0, used);
  }

  /** A call that launches kernels on what PyTorch has computed. */
  private static Origin behind(int copies) {
    List<Operation> operations = List.of(new Operation("torch.matmul", 31, 2000));
    return new Origin(1000, 1000, 2000, 2000, operations, 2, copies, true);
  }

  private Optional<Outcome> judge() {
    return judge(Policy.KERNEL);
  }

  private Optional<Outcome> judge(Policy policy) {
    return origins.judge(policy, TASK, Stage.CORRECT, "");
  }

  private String evidence() {
    Outcome outcome = judge().orElseThrow();
    assertThat(outcome.status()).isEqualTo(Status.NOT_A_KERNEL);
    assertThat(outcome.message()).isEqualTo(Policy.KERNEL.advice(TASK));
    return String.valueOf(outcome.evidence());
  }

  @Test
  void ownWorkIsAccepted() {
    origins.add(call(1000, 1000, 0));
    assertThat(judge()).isEmpty();
    assertThat(origins.summary()).isEqualTo(new Verdict.Origin(1.0, 0.0, List.of()));
  }

  @Test
  void smallLibraryFinishIsAccepted() {
    origins.add(call(1000, 1000, 100, new Operation("Tensor.sum", 12, 100)));
    origins.add(call(1000, 1000, 100, new Operation("Tensor.sum", 12, 100)));
    assertThat(judge()).isEmpty();
    assertThat(origins.summary())
        .isEqualTo(
            new Verdict.Origin(0.95, 0.05, List.of(new Verdict.Operation("Tensor.sum", 12, 0.05))));
  }

  @Test
  void libraryCallIsNamed() {
    origins.add(call(1000, 0, 2000, new Operation("torch.matmul", 31, 3000)));
    assertThat(evidence())
        .isEqualTo(
            "policy: no result was written by a kernel of this file; torch.matmul (line 31)");
  }

  @Test
  void kernelThatStoresLibraryWorkIsRefused() {
    origins.add(call(1000, 1000, 2000, new Operation("torch.matmul", 31, 2000)));
    assertThat(evidence())
        .isEqualTo("policy: 100 % of the work was not done by its kernels: torch.matmul (line 31)");
  }

  @Test
  void unusedKernelsAreCheating() {
    origins.add(beside(false));
    Outcome outcome = judge().orElseThrow();
    assertThat(outcome.status()).isEqualTo(Status.CHEATING);
    assertThat(outcome.evidence())
        .isEqualTo(
            "policy: kernels of this file ran, and no result depends on what they wrote;"
                + " torch.matmul (line 31)");
  }

  @Test
  void kernelsReadByPythonAreUsed() {
    origins.add(beside(true));
    assertThat(evidence()).startsWith("policy: no result was written by a kernel of this file");
  }

  @ParameterizedTest
  @EnumSource(names = {"KERNEL", "MIXED"})
  void copyingKernelsAreCheating(Policy policy) {
    origins.add(behind(2));
    origins.add(call(10, 0, 20));
    Outcome outcome = judge(policy).orElseThrow();
    assertThat(outcome.status()).isEqualTo(Status.CHEATING);
    assertThat(outcome.evidence())
        .isEqualTo(
            "policy: kernels of this file only copied what others had computed;"
                + " torch.matmul (line 31)");
  }

  @Test
  void kernelsThatComputeInOneCallAreNotCopies() {
    origins.add(behind(2));
    origins.add(behind(1));
    assertThat(judge(Policy.MIXED)).isEmpty();
    assertThat(judge().orElseThrow().status()).isEqualTo(Status.NOT_A_KERNEL);
  }

  @Test
  void kernelsUsedInOneCallAreNotCheating() {
    origins.add(beside(false));
    origins.add(call(10, 10, 0));
    assertThat(evidence()).startsWith("policy: 99 % of the work was not done by its kernels");
  }

  /** A layer that applies ones and zeros, and other weights in another call. */
  @Test
  void kernelsThatChangeOtherWeightsAreNotForShow() {
    origins.add(behind(2));
    origins.addOther(behind(2));
    assertThat(judge(Policy.MIXED)).as("copies there, too").isPresent();
    origins.addOther(null);
    assertThat(judge(Policy.MIXED)).as("not known there").isPresent();
    origins.addOther(behind(1));
    assertThat(judge(Policy.MIXED)).isEmpty();
    assertThat(judge().orElseThrow().status()).isEqualTo(Status.NOT_A_KERNEL);
  }

  @Test
  void copiesOfArgumentsAreNotOwnWork() {
    origins.add(call(1000, 100, 0));
    assertThat(evidence()).isEqualTo("policy: 90 % of the results were not written by its kernels");
  }

  @Test
  void trivialCallAmongOthersIsAccepted() {
    origins.add(call(10, 0, 0));
    origins.add(call(0, 0, 0));
    origins.add(call(1000, 1000, 0));
    assertThat(judge()).isEmpty();
  }

  @Test
  void largestOperationsAreNamedFirst() {
    origins.add(
        call(
            1000,
            0,
            2000,
            new Operation("a", 1, 10),
            new Operation("b", 0, 900),
            new Operation("c", 3, 20),
            new Operation("d", 4, 5)));
    assertThat(evidence()).endsWith("; b, c (line 3), a (line 1)");
  }

  @Test
  void libraryMayDoTheRestAtPolicyMixed() {
    origins.add(call(1000, 100, 1900, new Operation("torch.matmul", 31, 1900)));
    assertThat(judge()).isPresent();
    assertThat(judge(Policy.MIXED)).isEmpty();
    assertThat(origins.summary())
        .isEqualTo(
            new Verdict.Origin(
                0.005, 0.95, List.of(new Verdict.Operation("torch.matmul", 31, 0.95))));
  }

  @Test
  void policyMixedNeedsSomeKernelWork() {
    origins.add(call(1000, 0, 2000, new Operation("torch.matmul", 31, 2000)));
    Outcome outcome = judge(Policy.MIXED).orElseThrow();
    assertThat(outcome.status()).isEqualTo(Status.NOT_A_KERNEL);
    assertThat(outcome.evidence())
        .isEqualTo("policy: no kernel of this file ran; torch.matmul (line 31)");
    assertThat(outcome.message()).isEqualTo(Policy.MIXED.advice(TASK));
    assertThat(judge(Policy.ANY)).isEmpty();
  }

  @Test
  void unusedKernelsAreCheatingAtPolicyMixed() {
    origins.add(beside(false));
    assertThat(judge(Policy.MIXED).orElseThrow().status()).isEqualTo(Status.CHEATING);
  }

  @Test
  void kernelsReadByPythonCountAtPolicyMixed() {
    origins.add(beside(true));
    assertThat(judge(Policy.MIXED)).isEmpty();
  }

  @Test
  void missingAccountIsIncomplete() {
    origins.add(null);
    assertThat(judge()).isEmpty();
    assertThat(origins.summary()).isNull();
    assertThat(origins.incomplete()).isTrue();
  }
}
