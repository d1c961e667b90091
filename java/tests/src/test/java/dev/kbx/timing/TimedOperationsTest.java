package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.outcome.Outcome;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimedOperationsTest {
  private static final String SHAPE = "(4096,)";
  private static final List<String> OWN = List.of();
  private static final List<String> LIBRARY = List.of("tanh");

  private final TimedOperations operations = new TimedOperations();

  /** Which calls were repeated, in order. */
  private final List<Integer> repeated = new ArrayList<>();

  @Test
  void libraryWorkOnlyInTimedCallsIsCheating() throws InterruptedException {
    assertThat(explain(List.of(LIBRARY, LIBRARY), List.of(OWN, OWN)))
        .hasValueSatisfying(found -> {
          assertThat(found.status()).isEqualTo(Status.CHEATING);
          assertThat(found.evidence()).contains("at (4096,)", "do not: tanh");
        });
    assertThat(repeated).containsExactly(0, 1);
  }

  @Test
  void operationsOfWatchedCallsAreNotRepeated() throws InterruptedException {
    operations.watched(List.of("tanh", "mul"));
    assertThat(explain(List.of(LIBRARY, OWN), List.of(OWN, OWN))).isEmpty();
    assertThat(repeated).isEmpty();
  }

  /** As {@code complex} in {@code torch.linalg.eigvals}, where some eigenvalues are not real. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void valueDependentOperationIsNotAFinding(int last) throws InterruptedException {
    List<List<String>> timed =
        IntStream.range(0, 4).mapToObj(call -> call <= last ? List.of("complex") : OWN).toList();
    List<List<String>> latestFirst = timed.reversed();
    assertThat(explain(timed, latestFirst)).isEmpty();
    assertThat(repeated).hasSize(last == 0 ? 0 : 4 - last);
  }

  @Test
  void operationsOfHalfTheBatchAreFound() {
    assertThat(operations.unwatched(List.of(OWN, OWN, OWN, LIBRARY))).isEmpty();
    assertThat(operations.unwatched(List.of(OWN, OWN, LIBRARY, LIBRARY))).containsExactly("tanh");
    assertThat(operations.unwatched(List.of(LIBRARY, OWN, LIBRARY))).containsExactly("tanh");
    assertThat(operations.unwatched(List.of(LIBRARY))).containsExactly("tanh");
    assertThat(operations.unwatched(List.of())).isEmpty();
  }

  @Test
  void differentOperationsInEachCallAreFound() {
    assertThat(operations.unwatched(List.of(LIBRARY, List.of("sinh", "cosh"), OWN, OWN)))
        .containsExactly("cosh", "sinh", "tanh");
  }

  @Test
  void findingOfARepeatedCallDecides() throws InterruptedException {
    Outcome finding = Outcome.impossible("too fast");
    assertThat(operations.explain(List.of(LIBRARY), List.of(0), _ -> Optional.of(finding), SHAPE))
        .containsSame(finding);
  }

  @Test
  void watchedCallWithoutAccountDoesNotClear() {
    operations.watched(null);
    assertThat(operations.judge(List.of(LIBRARY), SHAPE)).isPresent();
  }

  /**
   * Explains a batch.
   *
   * @param watched what runs in each of its calls when it is repeated
   */
  private Optional<Outcome> explain(List<List<String>> timed, List<List<String>> watched)
      throws InterruptedException {
    List<Integer> calls = IntStream.range(0, watched.size()).boxed().toList();
    return operations.explain(
        timed,
        calls,
        call -> {
          repeated.add(call);
          operations.watched(watched.get(call));
          return Optional.empty();
        },
        SHAPE);
  }
}
