package dev.kbx.generate;

import dev.kbx.candidate.Candidate;
import dev.kbx.error.EnvironmentException;
import dev.kbx.judge.Dispatcher;
import dev.kbx.judge.Referee;
import dev.kbx.llm.ModelFailure;
import dev.kbx.method.Event;
import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A run of methods over tasks. Trajectories run beside each other as far as requests may be in
 * flight and devices judge, so that neither waits for the other while another trajectory has work.
 * What a {@link Ledger} holds of the run already is replayed, not done again.
 */
public final class Generation {
  /** Trajectories for each request that may be in flight: while one is judged, another asks. */
  private static final int AHEAD = 2;

  /** Number of requests in a row that fail for a passing reason and end the session. */
  private static final int OUTAGE = 8;

  private final Map<String, PreparedMethod> methods;
  private final Recorded recorded;
  private final Trajectory.Context context;
  private final Listener listener;
  private final AtomicInteger failedInARow = new AtomicInteger();
  private final int width;

  /** Is told what happens, by several threads. */
  public interface Listener {
    /**
     * A trajectory has its answer.
     *
     * @param recorded whether it is that of an earlier session
     */
    void answered(Unit unit, Task task, Answered answered, boolean recorded)
        throws InterruptedException;

    /** A trajectory stays open until the run is resumed. */
    void postponed(Unit unit, ModelFailure why);
  }

  /** One trajectory to run. */
  public record Work(Unit unit, Task task) {}

  /**
   * @param methods by their names in the run
   * @param recorded what earlier sessions of the run did
   */
  public Generation(
      Map<String, PreparedMethod> methods,
      Recorded recorded,
      Ledger ledger,
      DevelopmentJudge judge,
      Listener listener) {
    this.methods = Map.copyOf(methods);
    this.recorded = recorded;
    this.listener = listener;
    long start = System.nanoTime();
    this.context =
        new Trajectory.Context(
            ledger, recorded.accounts(), judge, () -> (System.nanoTime() - start) / 1e9);
    int requests = methods.values().stream().mapToInt(m -> m.model().parallel()).max().orElse(1);
    this.width = AHEAD * (requests + judge.referee().capacity());
  }

  /**
   * Runs all trajectories, in this order as far as they wait for each other.
   *
   * @throws Outage if models cannot be reached; what was done is in the ledger
   */
  public void run(List<Work> all) throws InterruptedException {
    Dispatcher.run(width, all, this::run);
  }

  private void run(Work work) throws InterruptedException {
    Unit unit = work.unit();
    PreparedMethod method = methods.get(unit.method());
    if (method == null) throw new IllegalArgumentException("no method " + unit.method());
    Recorded.Past past = recorded.of(unit);
    if (past.answered() != null) {
      listener.answered(unit, work.task(), past.answered(), true);
      return;
    }
    for (String lost : past.lost()) context.add(unit, new Event.Lost(lost), false);
    History history = recorded.take(unit);
    switch (new Trajectory(unit, work.task(), method, history, context).run()) {
      case Trajectory.End.Done(Answered answered) -> {
        failedInARow.set(0);
        listener.answered(unit, work.task(), answered, false);
      }
      case Trajectory.End.Open(ModelFailure why) -> {
        listener.postponed(unit, why);
        if (why.fatal() || failedInARow.incrementAndGet() >= OUTAGE) {
          throw new Outage(String.valueOf(why.getMessage()));
        }
      }
    }
  }

  /** Models cannot be reached; the run can be resumed. */
  public static final class Outage extends EnvironmentException {
    private static final long serialVersionUID = 1;

    Outage(String message) {
      super(message);
    }
  }

  /**
   * How a trajectory ended.
   *
   * @param development what the referee found about the answer on development inputs; null if it
   *     was not judged
   */
  public record Answered(Next.Answer answer, @Nullable Judgement development) {
    static Answered of(Next.Answer answer, History history) {
      String ask = answer.ask();
      Judgement judgement =
          ask == null ? null : history.of(ask).map(History.Outcome::judgement).orElse(null);
      return new Answered(answer, judgement);
    }
  }

  /**
   * Judges kernels for feedback, on development inputs.
   *
   * @param plan of those judgements
   */
  public record DevelopmentJudge(Referee referee, Plan plan) {
    private static final String ORIGIN = "generated";

    Judgement judge(Unit unit, Task task, String model, String code) throws InterruptedException {
      Candidate candidate =
          new Candidate(task, code, ORIGIN, unit.sample(), unit.method(), model, null);
      return referee.judge(candidate, plan);
    }

    /** Seconds of the processes that judged. */
    public static double seconds(Judgement judgement) {
      double all = 0;
      for (Map.Entry<String, Double> stage : judgement.seconds().entrySet()) {
        if (!stage.getKey().equals("static")) all += stage.getValue();
      }
      return all;
    }
  }
}
