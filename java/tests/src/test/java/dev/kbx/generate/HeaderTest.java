package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.error.InputException;
import dev.kbx.verdict.Verdict.Device;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A run is resumed under the conditions of its beginning. */
class HeaderTest {
  private static final Device CPU = new Device("cpu", "EPYC", null, null, "sm_90");
  private static final Device GPU = new Device("cuda", "H200", "GPU-1", "580", "sm_90");

  private static Header header(
      @Nullable Device device, Map<String, String> versions, Map<String, String> judging) {
    return new Header("r1", Instant.EPOCH, "s", "*", List.of(), device, versions, judging);
  }

  @Test
  void equalHeaderIsAccepted() {
    Header then = header(CPU, Map.of("torch", "2.9"), Map.of("grade", "general"));
    assertThatCode(() -> then.refuseOther(then)).doesNotThrowAnyException();
  }

  @Test
  void eachDifferenceIsNamedWithBothValues() {
    Header then =
        header(CPU, Map.of("torch", "2.9", "triton", "3.5"), Map.of("grade", "general", "off", ""));
    Header now =
        header(
            GPU,
            Map.of("torch", "2.10", "triton", "3.5"),
            Map.of("grade", "published", "off", "decoy"));
    assertThatThrownBy(() -> then.refuseOther(now))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "run r1 was begun with other conditions, so that its feedback would not be comparable:"
                + " device was EPYC sm_90, is H200 GPU-1 580 sm_90, grade was general, is"
                + " published, off was none, is decoy, torch was 2.9, is 2.10; restore them, or"
                + " start a new run without --resume");
  }

  @Test
  void missingValueIsNamed() {
    assertThatThrownBy(() ->
            header(null, Map.of(), Map.of())
                .refuseOther(header(CPU, Map.of("cuda", "13"), Map.of())))
        .hasMessageContaining("device was none, is EPYC sm_90, cuda was none, is 13;");
  }
}
