package dev.kbx.generate;

import dev.kbx.error.InputException;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a run of methods wrote, from its ledger: for other systems' files.
 *
 * @param trajectories in the order of method, task and sample, finished or not
 */
public record Transcript(Header header, List<Trajectory> trajectories) {
  private static final Pattern ROUND = Pattern.compile("(?:turn|round|generation)-(\\d{1,6})\\b.*");
  private static final Pattern WORKER = Pattern.compile("worker-\\d+-(\\d{1,6})");

  public Transcript {
    trajectories = List.copyOf(trajectories);
  }

  /**
   * A kernel.
   *
   * @param told the asks of the kernels whose findings were told for it, as their order in the
   *     prompt is; of a program the last one that was judged
   * @param messages that it answers; none if a program brought it
   * @param reply raw; null if a program brought it
   * @param judgement on development inputs; null if it was not judged
   */
  public record Kernel(
      String ask,
      List<String> told,
      int round,
      List<Message> messages,
      @Nullable String reply,
      String code,
      @Nullable Judgement judgement) {}

  /**
   * A trajectory.
   *
   * @param kernels in the order in which they were written
   * @param answer null if it has none, or is not finished
   */
  public record Trajectory(
      String method,
      String model,
      String task,
      int sample,
      List<Kernel> kernels,
      @Nullable Kernel answer) {
    public Trajectory {
      kernels = List.copyOf(kernels);
    }

    /** How many rounds have kernels, gaps included. */
    public int rounds() {
      return kernels.stream().mapToInt(kernel -> kernel.round() + 1).max().orElse(0);
    }

    /**
     * The best kernel up to a round: a correct one goes before others, then the one with the
     * highest lower bound of its speedup, then the later one.
     */
    public Optional<Kernel> best(int round) {
      return kernels.stream()
          .filter(kernel -> kernel.round() <= round)
          .reduce((one, other) -> BY_MERIT.compare(other, one) >= 0 ? other : one);
    }

    /** What the model was told last in the first request; empty if there was none. */
    public String firstPrompt() {
      return kernels.stream()
          .filter(kernel -> !kernel.messages().isEmpty())
          .findFirst()
          .map(kernel -> kernel.messages().getLast().text())
          .orElse("");
    }
  }

  private static final Comparator<Kernel> BY_MERIT =
      Comparator.<Kernel, Boolean>comparing(
              kernel -> kernel.judgement() != null && kernel.judgement().status() == Status.CORRECT)
          .thenComparingDouble(kernel ->
              kernel.judgement() == null || kernel.judgement().speedup() == null
                  ? 0
                  : kernel.judgement().speedup().low());

  /** Reads a ledger. Throws {@link InputException}. */
  public static Transcript read(Path ledger) {
    Header header = Ledger.header(ledger);
    Map<String, String> models = new HashMap<>();
    Map<String, Integer> order = new HashMap<>();
    Set<String> programs = new HashSet<>();
    for (MethodSettings method : header.methods()) {
      models.put(method.name(), method.model());
      order.put(method.name(), order.size());
      if (method.options().method() == Algorithm.EXTERNAL) programs.add(method.name());
    }
    Map<Unit, Parts> parts = new HashMap<>();
    Ledger.replay(
        ledger,
        (unit, event) ->
            parts
                .computeIfAbsent(unit, _ -> new Parts(programs.contains(unit.method())))
                .add(event));
    Map<String, Trajectory> sorted = new TreeMap<>();
    parts.forEach((unit, part) ->
        sorted.put(
            "%06d %s %09d"
                .formatted(order.getOrDefault(unit.method(), 0), unit.task(), unit.sample()),
            part.trajectory(unit, models.getOrDefault(unit.method(), ""))));
    return new Transcript(header, List.copyOf(sorted.values()));
  }

  /** A trajectory while its events are read. */
  private static final class Parts {
    private final Map<String, List<Message>> messages = new HashMap<>();
    private final Map<String, String> replies = new HashMap<>();
    private final Map<String, List<String>> told = new HashMap<>();
    private final Map<String, Kernel> kernels = new LinkedHashMap<>();
    private final boolean program;
    private @Nullable String chosen;
    private @Nullable String judged;

    Parts(boolean program) {
      this.program = program;
    }

    void add(Event event) {
      switch (event) {
        case Event.Prompt e -> {
          messages.put(e.ask(), e.messages());
          tell(e.ask());
        }
        case Event.Reply e -> replies.put(e.ask(), e.text());
        case Event.Extraction e -> {
          if (e.code() != null) put(e.ask(), e.code(), null);
        }
        case Event.Program e -> {
          for (ProgramAnswer.Candidate own : e.answer().judge()) {
            tell(own.id());
            put(own.id(), own.code(), null);
          }
        }
        case Event.Judged e -> {
          judged = e.ask();
          Kernel known = kernels.get(e.ask());
          if (known != null) put(e.ask(), known.code(), e.judgement());
        }
        case Event.Selection e -> chosen = e.ask();
        case Event.Feedback e ->
            told.computeIfAbsent(e.ask(), _ -> new ArrayList<>()).add(e.about());
        case Event.NoReply _,
            Event.Lost _,
            Event.RecordedSpeedup _,
            Event.ProgramFailed _,
            Event.Exchange _,
            Event.AgentEnded _,
            Event.Cap _ -> {}
      }
    }

    /** A program is told every judgement as it comes, whatever it asks next. */
    private void tell(String ask) {
      if (program && judged != null) told.putIfAbsent(ask, List.of(judged));
    }

    private void put(String ask, String code, @Nullable Judgement judgement) {
      kernels.put(
          ask,
          new Kernel(
              ask,
              List.copyOf(told.getOrDefault(ask, List.of())),
              roundOf(ask),
              messages.getOrDefault(ask, List.of()),
              replies.get(ask),
              code,
              judgement));
    }

    Trajectory trajectory(Unit unit, String model) {
      return new Trajectory(
          unit.method(),
          model,
          unit.task(),
          unit.sample(),
          new ArrayList<>(kernels.values()),
          chosen == null ? null : kernels.get(chosen));
    }
  }

  /**
   * The round of a kernel by the id of its ask, from 0; also 0 for methods without rounds, and for
   * ids of external programs without one.
   */
  private static int roundOf(String ask) {
    for (Pattern pattern : new Pattern[] {ROUND, WORKER}) {
      Matcher matcher = pattern.matcher(ask);
      if (matcher.matches()) return Integer.parseInt(matcher.group(1));
    }
    return 0;
  }
}
