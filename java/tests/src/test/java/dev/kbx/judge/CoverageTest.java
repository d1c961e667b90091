package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.outcome.Outcome;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.OracleMessage.PlannedCall;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What failures in calls that ask for several properties are put down to. */
class CoverageTest {
  private static final Optional<Outcome> WRONG =
      Optional.of(Outcome.of(Status.WRONG_VALUES, Stage.CORRECT, "wrong"));

  private static int calls;

  private static PlannedCall call(String... properties) {
    List<String> sorted = Arrays.stream(properties).sorted().toList();
    return new PlannedCall(calls++, "case", "standard", null, sorted, null);
  }

  private static PlannedCall again(PlannedCall call) {
    return new PlannedCall(calls++, "case", "standard", call.index(), call.properties(), null);
  }

  /** Makes all calls of a candidate that is wrong where {@code wrong} properties come together. */
  private static Coverage covered(Set<String> wrong, PlannedCall... calls) {
    Coverage coverage = new Coverage(List.of(calls));
    for (var call = coverage.next(); call.isPresent(); call = coverage.next()) {
      boolean fails = call.get().properties().containsAll(wrong);
      coverage.add(call.get(), fails ? WRONG : Optional.empty());
    }
    return coverage;
  }

  private static List<String> broken(Coverage coverage) {
    return coverage.breaks().stream().map(Verdict.Break::property).toList();
  }

  @Test
  void failureIsAttributedToPropertiesWithoutACorrectCall() {
    Coverage coverage = covered(Set.of("strided"), call("empty"), call("empty", "strided"));
    assertThat(broken(coverage)).containsExactly("strided");
    assertThat(coverage.holds()).containsExactly("empty");
    assertThat(coverage.right()).contains(false);
  }

  @Test
  void skippedPropertyIsNeitherHeldNorBroken() {
    PlannedCall skipped = call("other_weights");
    Coverage coverage = new Coverage(List.of(call("empty"), skipped));
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    coverage.skip(coverage.next().orElseThrow());
    assertThat(coverage.holds()).containsExactly("empty");
    assertThat(coverage.breaks()).isEmpty();
    assertThat(coverage.right()).contains(true);
  }

  @Test
  void propertiesThatHoldAloneBreakInCombination() {
    Coverage coverage =
        covered(Set.of("a", "b"), call("a"), call("b"), call("a", "b"), call("a", "b", "c"));
    assertThat(broken(coverage)).containsExactly("a+b");
    assertThat(coverage.holds()).containsExactly("a", "b");
  }

  @Test
  void callThatRepeatsAFailedCombinationIsSkipped() {
    Coverage coverage = new Coverage(List.of(call("a"), call("a", "b"), call("b")));
    coverage.add(coverage.next().orElseThrow(), WRONG);
    assertThat(coverage.next().orElseThrow().properties()).containsExactly("b");
    assertThat(coverage.next()).isEmpty();
  }

  /** Draws of a random operation are judged when all are there. */
  @Test
  void propertyHoldsIfAllDrawsAreRight() {
    PlannedCall first = call("a", "b");
    Coverage coverage = new Coverage(List.of(first, again(first), again(first), call("a")));
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    assertThat(coverage.holds()).isEmpty();
    coverage.add(coverage.next().orElseThrow(), WRONG);
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    assertThat(broken(coverage)).containsExactly("b");
    assertThat(coverage.holds()).containsExactly("a");
  }

  @Test
  void drawsOfTwoProcessesAreNotJudgedTogether() {
    PlannedCall first = call("a");
    Coverage coverage = new Coverage(List.of(first, again(first), call("b")));
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    coverage.fault();
    assertThat(coverage.next().orElseThrow().properties()).containsExactly("b");
    assertThat(coverage.right()).isEmpty();
    assertThat(coverage.holds()).isEmpty();
  }

  @Test
  void specialValuesAreInformativeOnly() {
    Coverage coverage = covered(Set.of("special_values"), call("empty"), call("special_values"));
    assertThat(broken(coverage)).containsExactly("special_values");
    assertThat(coverage.right()).contains(true);
    assertThat(coverage.firstFailure()).isEmpty();
  }

  @Test
  void unreachedSpecialValuesAreNotMissing() {
    Coverage coverage = new Coverage(List.of(call("empty"), call("special_values")));
    coverage.add(coverage.next().orElseThrow(), Optional.empty());
    assertThat(coverage.right()).contains(true);
  }

  @Test
  void infrastructureFailureBreaksNoProperty() {
    Coverage coverage = new Coverage(List.of(call("a")));
    PlannedCall call = coverage.next().orElseThrow();
    coverage.add(
        call, Optional.of(Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, "kbx cannot run it")));
    assertThat(coverage.breaks()).isEmpty();
    assertThat(coverage.right()).as("nothing is known of it").isEmpty();
    assertThat(coverage.firstFailure()).isPresent();
  }
}
