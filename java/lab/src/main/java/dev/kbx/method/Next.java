package dev.kbx.method;

import dev.kbx.llm.ChatRequest.Message;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a method wants now. */
public sealed interface Next {
  /**
   * Requests and judgements that can be made at the same time. What was begun already is not begun
   * again, so a method states all that is open.
   *
   * @param consultation of the program that is the method; null if there is none to be made
   */
  record Work(List<Ask> asks, List<Trial> trials, @Nullable Consultation consultation)
      implements Next {
    Work(List<Ask> asks, List<Trial> trials) {
      this(asks, trials, null);
    }

    public Work {
      asks = List.copyOf(asks);
      trials = List.copyOf(trials);
    }

    static Work ask(Ask ask) {
      return new Work(List.of(ask), List.of());
    }
  }

  /** The trajectory ends with this answer. */
  record Done(Answer answer) implements Next {}

  /**
   * A request to the model.
   *
   * @param id unique in the trajectory, and the same whenever this history is continued
   * @param templates versions of the prompt files that it was made from
   * @param about ids of the asks whose kernels' findings are in it
   * @param repeat tells asks with the same messages apart, from 0
   * @param code whether a kernel is expected in the reply
   * @param temperature null for that of the run
   * @param stable how many first characters of the last message the trajectory's other requests
   *     have in common with it, with all messages before
   */
  record Ask(
      String id,
      List<Message> messages,
      Map<String, String> templates,
      List<String> about,
      int repeat,
      boolean code,
      @Nullable Double temperature,
      int stable) {
    public Ask {
      messages = List.copyOf(messages);
      about = List.copyOf(about);
    }
  }

  /**
   * A kernel to judge on development inputs.
   *
   * @param ask whose reply it is in
   */
  record Trial(String ask, String code) {}

  /**
   * The next answer of the program that is the method.
   *
   * @param past what the program answered before, which it must answer again
   * @param news events that it has not been told, as lines
   * @param used ids that it has used
   * @param kernels those of them that led to a kernel
   */
  record Consultation(List<Turn> past, List<String> news, Set<String> used, Set<String> kernels) {
    public Consultation {
      past = List.copyOf(past);
      news = List.copyOf(news);
      used = Set.copyOf(used);
      kernels = Set.copyOf(kernels);
    }

    /** What the program was told, and what it answered. */
    public record Turn(List<String> news, ProgramAnswer answer) {
      public Turn {
        news = List.copyOf(news);
      }
    }
  }

  /**
   * The kernel that counts.
   *
   * @param ask whose reply it is in; null if there is none
   * @param why in words
   */
  record Answer(@Nullable String ask, @Nullable String code, String why) {
    static Answer none(String why) {
      return new Answer(null, null, why);
    }
  }
}
