package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kbx.llm.ChatRequest.Parameters;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keys of requests. The expected ones were computed with Python's json and hashlib. */
class ChatRequestTest {
  private static final ChatRequest.Message HI =
      new ChatRequest.Message(ChatRequest.Message.Role.USER, "hi");

  private static ChatRequest request(String model, Parameters parameters, int sample) {
    return new ChatRequest(model, parameters, List.of(HI), sample);
  }

  @Test
  void keyIsTheHashOfTheCanonicalDocument() {
    ChatRequest full =
        new ChatRequest(
            "openai:gpt-5",
            new Parameters(0.7, 0.95, 4096, "low", 7L),
            List.of(
                new ChatRequest.Message(ChatRequest.Message.Role.SYSTEM, "Be brief."),
                new ChatRequest.Message(
                    ChatRequest.Message.Role.USER, "Schreib „gelu“\nin Triton. 🚀")),
            3);
    assertThat(full.key())
        .isEqualTo("fa840d82fad01522d5b2313d6deae9259dc27b08b3d69185454d5e44c6dae8e4");
    assertThat(request("m", Parameters.defaults(), 0).key())
        .isEqualTo("a6304404be35735dfd9d225d50cafba078b0f99bb0803f12900432da3092bf8d");
  }

  @Test
  void eachFieldChangesTheKey() {
    Parameters none = Parameters.defaults();
    ChatRequest.Message said = new ChatRequest.Message(ChatRequest.Message.Role.ASSISTANT, "hi");
    Set<String> keys =
        Set.of(
            request("m", none, 0).key(),
            request("n", none, 0).key(),
            request("m", none, 1).key(),
            request("m", new Parameters(1.0, null, null, null, null), 0).key(),
            request("m", new Parameters(null, 1.0, null, null, null), 0).key(),
            request("m", new Parameters(null, null, 1, null, null), 0).key(),
            request("m", new Parameters(null, null, null, "high", null), 0).key(),
            request("m", new Parameters(null, null, null, null, 1L), 0).key(),
            new ChatRequest("m", none, List.of(said), 0).key(),
            new ChatRequest("m", none, List.of(HI, HI), 0).key());
    assertThat(keys).hasSize(10); // Set.of refuses equal ones.
  }

  /** A lone surrogate, as a model may print one, is no reason to fail. */
  @Test
  void anyTextHasAKey() {
    ChatRequest.Message broken = new ChatRequest.Message(ChatRequest.Message.Role.USER, "\ud800");
    assertThat(new ChatRequest("m", Parameters.defaults(), List.of(broken), 0).key()).hasSize(64);
  }

  @Test
  void impossibleValuesAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ChatRequest("m", Parameters.defaults(), List.of(), 0));
    assertThatIllegalArgumentException().isThrownBy(() -> request("m", Parameters.defaults(), -1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Parameters(-0.1, null, null, null, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Parameters(Double.NaN, null, null, null, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Parameters(null, 0.0, null, null, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Parameters(null, null, 0, null, null));
  }
}
