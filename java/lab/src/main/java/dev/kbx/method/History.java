package dev.kbx.method;

import dev.kbx.verdict.Judgement;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What happened in a trajectory so far, by the ids of asks. Immutable. */
public final class History {
  private static final History EMPTY =
      new History(new TreeMap<>(AskOrder.BY_ID), List.of(), List.of(), null);

  private final SortedMap<String, Outcome> outcomes;
  private final List<String> judged;
  private final List<ProgramAnswer> answers;
  private final @Nullable String end;

  private History(
      SortedMap<String, Outcome> outcomes,
      List<String> judged,
      List<ProgramAnswer> answers,
      @Nullable String end) {
    this.outcomes = outcomes;
    this.judged = judged;
    this.answers = answers;
    this.end = end;
  }

  /**
   * What came of an ask.
   *
   * @param text raw reply; null before it, and if there was none
   * @param failure why there is no reply
   * @param extracted whether code was looked for
   * @param code null if there is none
   * @param judgement null before it is judged
   */
  public record Outcome(
      String ask,
      @Nullable String text,
      @Nullable String failure,
      boolean extracted,
      @Nullable String code,
      @Nullable Judgement judgement) {
    private static Outcome of(String ask) {
      return new Outcome(ask, null, null, false, null, null);
    }

    /** Whether nothing more comes of the request itself. */
    public boolean answered() {
      return text != null || failure != null;
    }

    /** Whether it is known which code its reply has, or that there is no reply. */
    boolean looked() {
      return extracted || failure != null;
    }

    /** Whether it is known what its kernel is worth, or that it has none. */
    public boolean settled() {
      return judgement != null || failure != null || (extracted && code == null);
    }
  }

  public static History empty() {
    return EMPTY;
  }

  /** With one more event. */
  public History with(Event event) {
    return switch (event) {
      case Event.Prompt e -> put(outcome(e.ask()));
      case Event.Reply e -> put(new Outcome(e.ask(), e.text(), null, false, null, null));
      case Event.NoReply e ->
          e.isFinal() ? put(new Outcome(e.ask(), null, e.message(), false, null, null)) : this;
      case Event.Extraction e -> {
        Outcome known = outcome(e.ask());
        yield put(new Outcome(e.ask(), known.text(), known.failure(), true, e.code(), null));
      }
      case Event.Judged e -> {
        Outcome known = outcome(e.ask());
        Outcome judgedNow =
            new Outcome(e.ask(), known.text(), known.failure(), true, known.code(), e.judgement());
        List<String> more = new ArrayList<>(judged);
        more.add(e.ask());
        yield new History(put(judgedNow).outcomes, List.copyOf(more), answers, end);
      }
      case Event.Program e -> with(e.answer());
      case Event.ProgramFailed e ->
          new History(outcomes, judged, answers, "the program failed: " + e.what());
      case Event.Cap e -> new History(outcomes, judged, answers, "within " + e.what());
      case Event.Feedback _,
          Event.Lost _,
          Event.RecordedSpeedup _,
          Event.Exchange _,
          Event.AgentEnded _,
          Event.Selection _ ->
          this;
    };
  }

  /** The candidates of a program are kernels without a reply. */
  private History with(ProgramAnswer answer) {
    SortedMap<String, Outcome> more = new TreeMap<>(outcomes);
    for (ProgramAnswer.Candidate each : answer.judge()) {
      more.put(each.id(), new Outcome(each.id(), null, null, true, each.code(), null));
    }
    List<ProgramAnswer> all = new ArrayList<>(answers);
    all.add(answer);
    return new History(more, judged, List.copyOf(all), end);
  }

  private History put(Outcome outcome) {
    SortedMap<String, Outcome> more = new TreeMap<>(outcomes);
    more.put(outcome.ask(), outcome);
    return new History(more, judged, answers, end);
  }

  private Outcome outcome(String ask) {
    Outcome known = outcomes.get(ask);
    return known == null ? Outcome.of(ask) : known;
  }

  /** What came of an ask so far; empty before it is sent. */
  public Optional<Outcome> of(String ask) {
    return Optional.ofNullable(outcomes.get(ask));
  }

  /** All asks that were sent, in the order of their ids: numbers in them count by value. */
  List<Outcome> all() {
    return List.copyOf(outcomes.values());
  }

  /** What was judged, in the order of judgements. */
  List<Outcome> judged() {
    return judged.stream().map(this::outcome).toList();
  }

  /** What an external program answered, in order. */
  List<ProgramAnswer> answers() {
    return answers;
  }

  /** Why no further step is allowed, as a budget's {@code within 10 calls}; null if one is. */
  public @Nullable String end() {
    return end;
  }

  /**
   * Order of the ids of asks: as texts, but with numbers in them by value. It does not depend on
   * which of several requests was sent first.
   */
  private static final class AskOrder implements Comparator<String> {
    static final AskOrder BY_ID = new AskOrder();

    /** Between a number and what is none. */
    private static final Pattern BORDER = Pattern.compile("(?<=\\d)(?=\\D)|(?<=\\D)(?=\\d)");

    private AskOrder() {}

    @Override
    public int compare(String one, String other) {
      List<String> left = List.of(BORDER.split(one));
      List<String> right = List.of(BORDER.split(other));
      for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
        int order = part(left.get(i), right.get(i));
        if (order != 0) return order;
      }
      int order = Integer.compare(left.size(), right.size());
      return order != 0 ? order : one.compareTo(other);
    }

    private static int part(String one, String other) {
      return isNumber(one) && isNumber(other)
          ? new BigInteger(one).compareTo(new BigInteger(other))
          : one.compareTo(other);
    }

    private static boolean isNumber(String part) {
      return !part.isEmpty() && part.charAt(0) >= '0' && part.charAt(0) <= '9';
    }
  }
}
