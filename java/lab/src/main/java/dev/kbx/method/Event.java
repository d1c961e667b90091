package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelFailure;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What happened in one trajectory: one method at one task for one sample. A line of a ledger holds
 * one event with its trajectory and time.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Event.Feedback.class, name = "feedback"),
  @JsonSubTypes.Type(value = Event.Prompt.class, name = "prompt"),
  @JsonSubTypes.Type(value = Event.Reply.class, name = "reply"),
  @JsonSubTypes.Type(value = Event.NoReply.class, name = "no_reply"),
  @JsonSubTypes.Type(value = Event.Lost.class, name = "lost"),
  @JsonSubTypes.Type(value = Event.Extraction.class, name = "extraction"),
  @JsonSubTypes.Type(value = Event.RecordedSpeedup.class, name = "recorded_speedup"),
  @JsonSubTypes.Type(value = Event.Judged.class, name = "judgement"),
  @JsonSubTypes.Type(value = Event.Program.class, name = "program"),
  @JsonSubTypes.Type(value = Event.ProgramFailed.class, name = "program_failed"),
  @JsonSubTypes.Type(value = Event.Exchange.class, name = "exchange"),
  @JsonSubTypes.Type(value = Event.AgentEnded.class, name = "agent_ended"),
  @JsonSubTypes.Type(value = Event.Cap.class, name = "cap"),
  @JsonSubTypes.Type(value = Event.Selection.class, name = "selection"),
})
public sealed interface Event {
  /**
   * Findings about an earlier kernel go into a prompt.
   *
   * @param ask the prompt
   * @param about the ask that the kernel came from
   */
  record Feedback(String ask, String about) implements Event {}

  /**
   * A request is about to be sent. It is on disk before that.
   *
   * @param key of the request: equal for equal models, parameters, messages and samples
   * @param templates versions of the prompt files that it was made from
   */
  record Prompt(
      String ask,
      String key,
      String model,
      Parameters parameters,
      List<Message> messages,
      Map<String, String> templates)
      implements Event {}

  /**
   * A model answered. On disk before the reply is used.
   *
   * @param key as in the prompt
   * @param model the name that the provider gave
   * @param asked the name that was asked for
   * @param text raw
   * @param usd what it cost, as far as its tokens are known; null if that is not known at all
   * @param unmetered attempts whose tokens are not known, or only in part; null in ledgers of
   *     earlier versions, which did not count them
   */
  record Reply(
      String ask,
      String key,
      String model,
      String asked,
      String text,
      @Nullable String thinking,
      String finish,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds,
      int attempts,
      @Nullable Integer unmetered,
      boolean cached)
      implements Event {}

  /**
   * A request failed, after as many attempts as may help.
   *
   * @param usage of the failed attempts; null if none told
   * @param unmetered as of a reply
   */
  record NoReply(
      String ask,
      ModelFailure.Kind reason,
      String message,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds,
      int attempts,
      @Nullable Integer unmetered)
      implements Event {
    /** Whether the same request would fail again: the method goes on without a reply. */
    @JsonIgnore
    public boolean isFinal() {
      return reason == ModelFailure.Kind.CONTEXT_TOO_LONG
          || reason == ModelFailure.Kind.INVALID_REQUEST
          || reason == ModelFailure.Kind.NO_ANSWER;
    }
  }

  /**
   * A request was in flight when kbx was killed. It is charged as a call, since the provider may
   * have charged it, and asked again.
   */
  record Lost(String ask) implements Event {}

  /**
   * The code in a reply.
   *
   * @param code null if there is none
   */
  record Extraction(String ask, String rule, @Nullable String code) implements Event {}

  /**
   * The speedup that a kernel had when the ledger that is replayed was recorded. Not a measurement
   * of this run: it is shown as recorded, and decides nothing.
   *
   * @param ask the ask whose reply had the code
   * @param device that it was measured on, by name
   * @param measured when, as an instant in ISO 8601
   */
  record RecordedSpeedup(String ask, Speedup speedup, String device, String measured)
      implements Event {}

  /**
   * What the referee found on development inputs.
   *
   * @param ask the ask whose reply had the code
   * @param deviceSeconds time of processes that judged it, without compiling ahead
   */
  record Judged(String ask, Judgement judgement, double deviceSeconds) implements Event {}

  /**
   * An external program said what it wants next. On disk before it is done.
   *
   * @param turn from 0
   */
  record Program(int turn, ProgramAnswer answer) implements Event {}

  /** An external program can say no more: the trajectory ends with the best it has. */
  record ProgramFailed(String what) implements Event {}

  /**
   * A sandboxed agent asked its model, through kbx.
   *
   * @param ask of the exchange, new in the trajectory
   * @param target path of the request
   * @param status of HTTP
   * @param shared how many first characters the request has in common with the exchange before
   * @param request the rest of it: the whole conversation is sent each time
   * @param reply without keys
   * @param usd what it cost; null if that is not known
   */
  record Exchange(
      String ask,
      String model,
      String target,
      int status,
      int shared,
      String request,
      String reply,
      @Nullable Usage usage,
      @Nullable Double usd,
      double seconds)
      implements Event {}

  /**
   * The program of a sandboxed agent ended.
   *
   * @param status its exit code, as a shell counts it; null if it was lost
   * @param stopped why it was ended; null if it ended itself
   * @param output what it printed
   * @param dropped bytes of the output's middle that are left out
   * @param files of its workspace, without the answer
   * @param leftOut number of files that are not among them: not text, too long or too many
   * @param refused what it tried in vain, and how often
   */
  record AgentEnded(
      @Nullable Integer status,
      @Nullable String stopped,
      double seconds,
      String output,
      long dropped,
      Map<String, String> files,
      int leftOut,
      Map<String, Integer> refused)
      implements Event {}

  /** A budget does not allow another step. */
  record Cap(String what) implements Event {}

  /**
   * The answer of the trajectory, its last event.
   *
   * @param ask whose code it is; null if there is none
   * @param why in words
   */
  record Selection(@Nullable String ask, String why) implements Event {}
}
