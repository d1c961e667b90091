package dev.kbx.outcome;

import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Frame;
import dev.kbx.verdict.Verdict.Mismatch;
import dev.kbx.worker.Message;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.ZygoteMessage;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a stage ended a candidate's judgement: the status and its explanation.
 *
 * <p>These factories contain the whole classification. It uses the kind of failure, the stage and
 * the process's exit; never words in the candidate's output.
 *
 * @param policy whether the values are right and only who computed them is refused
 */
public record Outcome(
    Status status,
    Stage stage,
    @Nullable String message,
    @Nullable String rule,
    @Nullable String evidence,
    @Nullable List<Mismatch> mismatches,
    @Nullable List<Frame> frames,
    boolean policy) {

  /** Addresses differ between runs and must not appear in messages. */
  private static final Pattern ADDRESS = Pattern.compile("0x[0-9a-fA-F]{6,}");

  /** Characters kept of a message, whose length the runner chooses. */
  private static final int MAX_TEXT = 2000;

  private static final int MAX_FRAMES = 50;

  private static final String ENDS_PYTHON =
      "; this ends Python: put what is to run only as a script below if __name__ == '__main__':";

  private static final int SIGKILL = 9;
  private static final int SIGXCPU = 24;

  public static Outcome of(Status status, Stage stage, @Nullable String message) {
    return new Outcome(status, stage, stable(message), null, null, null, null, false);
  }

  /** Why, in words: the status if there is no message. */
  public String why() {
    return message == null ? status.label() : message;
  }

  public static Outcome correct(Stage stage) {
    return of(Status.CORRECT, stage, null);
  }

  public static Outcome timeout(Stage stage, String what, Duration limit) {
    return of(Status.TIMEOUT, stage, "%s took longer than %d s".formatted(what, limit.toSeconds()));
  }

  /** The run itself shows an attempt to cheat. */
  public static Outcome cheating(Stage stage, String evidence) {
    String message = "the candidate's process did something that no kernel does, and was killed";
    return cheating(stage, message, evidence);
  }

  /** The measured times are impossible. */
  public static Outcome impossible(String evidence) {
    return cheating(Stage.PERF, "the candidate's times are below what this GPU can do", evidence);
  }

  private static Outcome cheating(Stage stage, String message, String evidence) {
    return new Outcome(Status.CHEATING, stage, message, null, evidence, null, null, false);
  }

  /** The values are right, but others than the candidate's kernels did too much of the work. */
  static Outcome notAKernel(Stage stage, String found, String advice) {
    return policy(Status.NOT_A_KERNEL, stage, found, advice);
  }

  /** The values are right, and the candidate's kernels only look as if they computed them. */
  public static Outcome pretended(Stage stage, String found, String advice) {
    return policy(Status.CHEATING, stage, found, advice);
  }

  /** The values are right, and a call has no complete account of who computed them. */
  public static Outcome unaccounted(Stage stage) {
    String message = "who computed the result is not known: a call has no complete account of it";
    String evidence =
        "policy: the candidate prevents the account of operations and launches, which an empty"
            + " candidate in its place has";
    return new Outcome(Status.INFRASTRUCTURE, stage, message, null, evidence, null, null, true);
  }

  /**
   * This failure of kbx's, which is the candidate's doing: kbx judges an empty one in its place.
   */
  public Outcome provoked() {
    return evidence == null
        ? of(
            Status.RUNTIME_ERROR,
            stage,
            "kbx fails on this candidate each time, and not on an empty one in its place: "
                + message)
        : new Outcome(Status.CHEATING, stage, message, rule, evidence, null, null, policy);
  }

  /** This failure of kbx's, which fails on an empty candidate, too. */
  public Outcome unprovoked(String why) {
    return of(
        status,
        stage,
        "%s; kbx fails on an empty candidate in its place, too: %s".formatted(message, why));
  }

  private static Outcome policy(Status status, Stage stage, String found, String advice) {
    return new Outcome(
        status, stage, stable(advice), null, stable("policy: " + found), null, null, true);
  }

  /** The runner broke the protocol. */
  public static Outcome violation(Stage stage, String what) {
    return cheating(stage, "protocol: the process " + what);
  }

  /** This outcome, assigned to another stage. */
  public Outcome at(Stage other) {
    return new Outcome(status, other, message, rule, evidence, mismatches, frames, policy);
  }

  /**
   * The runner answered that loading or calling failed.
   *
   * <p>That the machine lacks what a candidate asks for is a failure of the candidate's like any
   * other: one that is wrong could ask for it in order to be left out of the rates.
   *
   * @param mayLack whether the trusted side confirms that the machine may lack what this candidate
   *     needs; then the message says so
   */
  public static Outcome raised(RunnerMessage.Raised raised, boolean loading, boolean mayLack) {
    boolean lacks = mayLack && raised.kind() == RunnerMessage.Raised.Kind.UNSUPPORTED;
    Stage stage =
        switch (raised.kind()) {
          case COMPILE -> Stage.COMPILE;
          case OUT_OF_BOUNDS -> Stage.CORRECT; // Without guard pages the call might have returned.
          default -> Stage.CALL;
        };
    Status failed = loading ? Status.IMPORT_ERROR : Status.RUNTIME_ERROR;
    Status status =
        switch (raised.kind()) {
          case SYNTAX -> Status.SYNTAX_ERROR;
          case NO_ENTRY -> Status.NO_ENTRY;
          case IMPORT, RUNTIME, UNSUPPORTED -> failed;
          case COMPILE -> Status.COMPILE_ERROR;
          case MEMORY -> Status.OUT_OF_MEMORY;
          case OUT_OF_BOUNDS -> Status.OUT_OF_BOUNDS;
          case EXIT -> Status.CRASHED;
        };
    List<Frame> frames =
        raised.frames().stream()
            .limit(MAX_FRAMES)
            .map(f -> new Frame(f.line(), String.valueOf(stable(f.function())), stable(f.text())))
            .toList();
    return new Outcome(
        status,
        stage,
        stable(lacks ? lack(raised) : explain(raised)),
        null,
        null,
        null,
        frames,
        false);
  }

  private static String lack(RunnerMessage.Raised raised) {
    return raised.feature() == null
        ? raised.message()
        : "kbx cannot run %s without a GPU; judge this candidate on one"
            .formatted(raised.feature());
  }

  private static String explain(RunnerMessage.Raised raised) {
    String type = raised.exception().substring(raised.exception().lastIndexOf('.') + 1);
    String where =
        raised.frames().isEmpty() ? "" : " (line " + raised.frames().getLast().line() + ")";
    String text =
        raised.message().isBlank() ? type + where : type + where + ": " + raised.message();
    return raised.kind() == RunnerMessage.Raised.Kind.EXIT ? text + ENDS_PYTHON : text;
  }

  /** This failure of a call, with the call in words, unless the machine is at fault. */
  public Outcome during(String call) {
    if (message == null || status.blame() != Status.Blame.CANDIDATE) return this;
    String text = message + (message.contains("\n") ? "\n" : "; ") + "called with " + call;
    return new Outcome(status, stage, text, rule, evidence, mismatches, frames, policy);
  }

  /** The same with something more in its message. */
  public Outcome adding(String text) {
    return new Outcome(
        status,
        stage,
        message == null ? text : message + "; " + text,
        rule,
        evidence,
        mismatches,
        frames,
        policy);
  }

  /** The runner's process tree ended before it answered. */
  public static Outcome lost(Runner.Lost lost, Stage stage) {
    if (lost.violation() != null) return violation(stage, lost.violation());
    ZygoteMessage.Exited how = lost.how();
    Integer signal = how.signal();
    if (how.reason() == ZygoteMessage.Exited.Reason.MEMORY) {
      return of(Status.OUT_OF_MEMORY, stage, "exceeded its memory limit; " + how.detail());
    }
    if (signal != null && signal == SIGXCPU) {
      return of(Status.TIMEOUT, stage, "exceeded its limit of processor time");
    }
    if (signal != null) {
      return of(
          Status.CRASHED,
          stage,
          "the process was killed by signal %d%s".formatted(signal, signalName(signal)));
    }
    return of(
        Status.CRASHED,
        stage,
        "the process exited with code %s before it answered"
            .formatted(how.code() == null ? "unknown" : how.code()));
  }

  private static String signalName(int signal) {
    return switch (signal) {
      case 4 -> " (SIGILL)";
      case 6 -> " (SIGABRT)";
      case 7 -> " (SIGBUS)";
      case 8 -> " (SIGFPE)";
      case SIGKILL -> " (SIGKILL)";
      case 11 -> " (SIGSEGV)";
      case 15 -> " (SIGTERM)";
      case 31 -> " (SIGSYS)";
      default -> "";
    };
  }

  /** The oracle refused a request. */
  public static Outcome refused(Message.Failed answer) {
    String where =
        answer.file() == null
            ? ""
            : answer.file() + (answer.line() == null ? "" : ":" + answer.line()) + ": ";
    Status status =
        switch (answer.reason()) {
          case INVALID_TASK -> Status.INVALID_TASK;
          case UNSUPPORTED, MEMORY, INTERNAL -> Status.INFRASTRUCTURE;
        };
    return of(status, Stage.CALL, where + answer.message());
  }

  /**
   * The oracle found a wrong result.
   *
   * @param configurations of autotuned kernels in this call, where they are known
   */
  public static Outcome wrong(
      OracleMessage.Checked checked, Stage stage, String call, List<String> configurations) {
    List<Mismatch> mismatches =
        checked.mismatches().stream()
            .map(m -> new Mismatch(m.output(), m.index(), m.expected(), m.got()))
            .toList();
    String message = checked.message() == null ? call : call + ": " + checked.message();
    if (!configurations.isEmpty()) {
      message += "; with configuration " + String.join(", ", configurations);
    }
    Status status = status(checked);
    Stage where = status == Status.RUNTIME_ERROR ? Stage.CALL : stage;
    return new Outcome(status, where, stable(message), null, null, mismatches, null, false);
  }

  private static Status status(OracleMessage.Checked checked) {
    return switch (checked.status()) {
      case CORRECT -> Status.CORRECT;
      case WRONG_STRUCTURE -> Status.WRONG_STRUCTURE;
      case WRONG_SHAPE -> Status.WRONG_SHAPE;
      case WRONG_DTYPE -> Status.WRONG_DTYPE;
      case WRONG_DEVICE -> Status.WRONG_DEVICE;
      case WRONG_VALUES -> Status.WRONG_VALUES;
      case OUT_OF_BOUNDS -> Status.OUT_OF_BOUNDS;
      case RACE -> Status.RACE;
      case ORDER_DEPENDENT -> Status.ORDER_DEPENDENT;
      case UNDEFINED_VALUE -> Status.UNDEFINED_VALUE;
      case NONDETERMINISTIC -> Status.NONDETERMINISTIC;
      case INPUT_MUTATED -> Status.INPUT_MUTATED;
      case RUNTIME_ERROR -> Status.RUNTIME_ERROR;
    };
  }

  /** Whether the device may be damaged after this outcome. */
  public boolean isFault() {
    return switch (status) {
      case TIMEOUT, CRASHED, RUNTIME_ERROR, OUT_OF_BOUNDS, OUT_OF_MEMORY, INFRASTRUCTURE -> true;
      default -> false;
    };
  }

  static @Nullable String stable(@Nullable String text) {
    if (text == null) return null;
    String cut = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text;
    return ADDRESS.matcher(cut).replaceAll("0x…");
  }
}
