package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines that no command takes. */
class UsageTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          foo                         | 'kbx foo': no such command; 'kbx --help' lists them
          runs foo                    | 'kbx runs foo': no such command; 'kbx runs --help' lists them
          tasks show gelu relu        | 'kbx tasks show' takes no further argument 'relu'; 'kbx tasks show --help' explains it
          eval --timeout abc examples | --timeout abc: is not a whole number
          check --severity bad x.py   | --severity bad: is not one of reject, flag, note
          eval --device               | --device needs DEVICE
          tasks new mine              | 'kbx tasks new' needs --from FILE[:NAME]; 'kbx tasks new --help' explains it
          compare one                 | 'kbx compare' needs at least 2 × RUN; 'kbx compare --help' explains it
          """)
  void wrongUsageIsOneLineWithAHint(String line, String message) throws Exception {
    Kbx.Result result = Kbx.here((Object[]) line.split(" "));
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines()).containsExactly("kbx: " + message);
  }

  @Test
  void unknownCommandSuggestsASimilarOne() throws Exception {
    for (List<Object> line : List.<List<Object>>of(List.of("evl", "x"), List.of("eva"))) {
      assertThat(Kbx.here(line.toArray()).err()).contains("Did you mean: kbx eval?");
    }
    assertThat(Kbx.here("eval", "--devic", "cpu").err())
        .contains("Unknown option: '--devic'", "--device");
  }

  /** Ray itself would be asked only after a bundle is made for its nodes. */
  @Test
  void unusableClusterAddressIsNamed(@TempDir Path out) throws Exception {
    assertThat(Kbx.here("eval", "examples/honest/gelu.py", "--cluster", "foo", "--out", out).err())
        .contains(
            "kbx: --cluster foo: is not an address; give ray://HOST:PORT, HOST:PORT, or auto");
  }
}
