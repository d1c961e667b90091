package dev.kbx.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which judgements are found again, and what that asks of the store. */
class RememberingRefereeTest {
  private final Candidate candidate = FakeWorkers.candidate("task", Map.of());
  private final Plan plan = FakeWorkers.plan();
  private final Map<String, Judgement> kept = new HashMap<>();
  private int queries;

  /** Of what is remembered: one judgement for each key and card. */
  private final RunStore store =
      (RunStore)
          Proxy.newProxyInstance(
              RunStore.class.getClassLoader(),
              new Class<?>[] {RunStore.class},
              (_, method, given) ->
                  switch (method.getName()) {
                    case "remembered" -> remembered((Collection<?>) given[0], given[1]);
                    case "remember" -> remember((String) given[0], (Judgement) given[2]);
                    default -> throw new AssertionError(method);
                  });

  @SuppressWarnings("unchecked")
  private Optional<Judgement> remembered(Collection<?> keys, Object accepted) {
    queries++;
    return kept.entrySet().stream()
        .filter(each -> keys.contains(each.getKey().substring(0, each.getKey().indexOf(' '))))
        .map(Map.Entry::getValue)
        .filter(each -> ((Predicate<Verdict.Device>) accepted).test(each.device()))
        .findFirst();
  }

  private @Nullable Object remember(String key, Judgement judgement) {
    kept.putIfAbsent(key + " " + judgement.device().uuid(), judgement);
    return null;
  }

  /** Cards of one model; the last of them judges. */
  private record Cards(List<JudgingConditions> conditions) implements JudgingReferee {
    static Cards of(int from, int to, String torch) {
      return new Cards(
          IntStream.range(from, to)
              .mapToObj(i ->
                  new JudgingConditions(
                      new Verdict.Device("cuda", "H100", "GPU-" + i, "580", "sm_90"),
                      Map.of("torch", torch)))
              .toList());
    }

    @Override
    public Judgement judge(Candidate candidate, Plan plan) {
      JudgingConditions last = conditions.getLast();
      return Json.mapper()
          .convertValue(
              Map.of(
                  "status",
                  "correct",
                  "stage",
                  "correct",
                  "call_ok",
                  true,
                  "exe_ok",
                  true,
                  "grade",
                  "published",
                  "flags",
                  List.of(),
                  "device",
                  last.device(),
                  "versions",
                  last.versions(),
                  "seconds",
                  Map.of()),
              Judgement.class);
    }

    @Override
    public int capacity() {
      return 1;
    }

    @Override
    public void expect(Plan plan, int candidates) {}

    @Override
    public void settled() {}
  }

  private boolean finds(JudgingReferee referee) throws InterruptedException {
    return finds(referee, plan);
  }

  private boolean finds(JudgingReferee referee, Plan by) throws InterruptedException {
    return new RememberingReferee(referee, store).find(candidate, by).known();
  }

  @Test
  void oneQueryCoversAllCards() throws Exception {
    assertThat(finds(Cards.of(0, 1_000, "2.13"))).isFalse();
    assertThat(finds(Cards.of(0, 1_000, "2.13"))).isTrue();
    assertThat(queries).isEqualTo(2);
  }

  @Test
  void rememberedJudgementNeedsACardInUse() throws Exception {
    assertThat(finds(Cards.of(0, 2, "2.13"))).as("judged on 1").isFalse();
    assertThat(finds(Cards.of(1, 3, "2.13"))).isTrue();
    assertThat(finds(Cards.of(2, 3, "2.13"))).as("another card").isFalse();
    assertThat(finds(Cards.of(2, 3, "2.13"))).as("which has its own").isTrue();
    assertThat(finds(Cards.of(2, 3, "2.12"))).as("other versions").isFalse();
  }

  @Test
  void judgementBesideAnExpertsKernelIsAnotherOne() throws Exception {
    JudgingReferee referee = Cards.of(0, 1, "2.13");
    String task = candidate.task().path();
    assertThat(finds(referee)).isFalse();
    assertThat(finds(referee, plan.beside(Map.of(task, "kernel")))).as("beside").isFalse();
    assertThat(finds(referee, plan.beside(Map.of(task, "other")))).as("another").isFalse();
    assertThat(finds(referee, plan.beside(Map.of(task, "kernel")))).as("again").isTrue();
    assertThat(finds(referee, plan.beside(Map.of("Of/another", "task")))).as("without").isTrue();
  }
}
