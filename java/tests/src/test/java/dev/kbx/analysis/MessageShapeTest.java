package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Equal mistakes have equal shapes, and different ones have not. */
class MessageShapeTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "shape=(1,), standard values: 1 wrong element, first output[0]: expected 0.88, got 1"
            + " (32077x the allowed error) | # wrong elements, first output[#]: expected #, got #"
            + " (#x the allowed error)",
        "shape=(37, 65), dim=-1, outliers values: 2405 wrong elements, first output[0, 12]:"
            + " expected -5e-3, got 1.5E+20 (11x the allowed error) | # wrong elements, first"
            + " output[#]: expected #, got # (#x the allowed error)",
        "n=4, uniform values: 2 wrong elements, first output[0]: expected 0, got 1; with"
            + " configuration a(B=1), b(B=2) | # wrong elements, first output[#]: expected #, got"
            + " #",
        "shape=(4,), uniform values: 1 wrong element, first output[0]: expected 0, got nan | #"
            + " wrong elements, first output[#]: expected #, got nan",
        "shape=(37, 65), standard values: 357 wrong elements of 2405, first output[31, 33]:"
            + " expected 0.5, got 0 (9x the allowed error); all in the tail of the row-major order,"
            + " from index 2048 on; they are 0 | # wrong elements, first output[#]: expected #, got"
            + " # (#x the allowed error); all in the tail of the row-major order, from index # on;"
            + " they are #",
        "shape=(4,), uniform values: 1 wrong element of 4, first output[0]: expected 0, got nan |"
            + " # wrong elements, first output[#]: expected #, got nan",
        "shape=(4099,), uniform values took longer than 20 s | a call took longer than # s",
        "NameError (line 22): name 'tl2' is not defined | NameError (line #): name '…' is not"
            + " defined",
        "TypeError (line 7): no; called with inputs=(f32[9], 'a: b'), drawn values | TypeError"
            + " (line #): no",
        "ImportError (line 9): cannot open /tmp/a/lib.so at 0x7ffd00a1 | ImportError (line #):"
            + " cannot open PATH at #",
        "output has shape [9, 1], expected [9] | output has shape [#], expected [#]",
        "a step of this row's scale and 'x' | a step of this row's scale and '…'",
        "float32 and int8 differ in x1 and sm_90 | float32 and int8 differ in x1 and sm_90",
      })
  void placeholdersReplaceNamesAndNumbers(String message, String shape) {
    assertThat(Causes.MessageShape.of(message)).isEqualTo(shape);
  }
}
