package dev.kbx.method;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.kbx.llm.ChatRequest.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an external program wants next: prompts and candidates, or to be done.
 *
 * @param usage what models cost that the program asked itself since its last answer, by its word
 */
public record ProgramAnswer(
    List<Prompt> ask, List<Candidate> judge, @Nullable Done done, @Nullable Reported usage) {
  public ProgramAnswer {
    ask = List.copyOf(ask);
    judge = List.copyOf(judge);
  }

  /**
   * A prompt for the model of the run.
   *
   * @param id new in the trajectory
   * @param kernel whether code is looked for in the reply
   * @param judge whether that code is judged
   * @param temperature in place of the run's
   */
  public record Prompt(
      String id,
      List<Message> messages,
      boolean kernel,
      boolean judge,
      @Nullable Double temperature) {
    public Prompt {
      messages = List.copyOf(messages);
    }
  }

  /**
   * A kernel of the program's own.
   *
   * @param id new in the trajectory
   */
  public record Candidate(String id, String code) {}

  /**
   * The end.
   *
   * @param id of the prompt or candidate whose kernel is the answer; null for the best one
   */
  public record Done(@Nullable String id) {}

  /**
   * Costs that nobody has checked.
   *
   * @param calls requests
   */
  public record Reported(
      long calls,
      @Nullable Long input,
      @Nullable Long output,
      @Nullable @JsonProperty("usd") Double usd) {}
}
