package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A kernel that does what the prompt of the published grade asks, and no more, is correct, and its
 * verdict names what it breaks: that is how {@code corpus/published} was written. Some kernels of
 * every category; all with the property {@code kbx.soak}.
 */
@Tag("soak")
class PublishedKernelsTest {
  private static final Path KERNELS = Kbx.home().resolve("corpus/published");
  private static final int STEP = Boolean.getBoolean("kbx.soak") ? 1 : 8;
  private static final Pattern BREAKS = Pattern.compile("^breaks: (.+)$", Pattern.MULTILINE);

  @TempDir private Path folder;

  /** Status, then the properties that it breaks. */
  private static String ending(String status, Stream<String> breaks) {
    return status + ", breaks " + breaks.collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Path> kernels() throws IOException {
    try (Stream<Path> files = Files.walk(KERNELS)) {
      return files.filter(file -> file.toString().endsWith(".py")).sorted().toList();
    }
  }

  private static Map<String, String> expected(List<Path> kernels) throws IOException {
    Map<String, String> endings = new TreeMap<>();
    for (Path file : kernels) {
      Matcher line = BREAKS.matcher(Files.readString(file));
      assertThat(line.find()).as("%s says what it breaks", file).isTrue();
      Stream<String> names = Arrays.stream(line.group(1).split(", ", -1));
      endings.put(
          KERNELS.relativize(file).toString(),
          ending("correct", names.filter(name -> !name.equals("none"))));
    }
    return endings;
  }

  private static Map<String, String> found(Kbx.Result result) {
    Map<String, String> endings = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      Stream<String> breaks =
          verdict.path("breaks").valueStream().map(b -> b.get("property").asString());
      endings.put(
          KERNELS.relativize(source).toString(), ending(verdict.get("status").asString(), breaks));
    }
    return endings;
  }

  @Test
  void publishedKernelsAreCorrectAndBreakTheExpectedProperties() throws Exception {
    List<Path> all = kernels();
    assertThat(expected(all)).hasSizeGreaterThanOrEqualTo(60);
    List<Path> some = Samples.ofEachKind(all, STEP, file -> KERNELS.relativize(file).getName(0));
    assertThat(some.stream().map(file -> KERNELS.relativize(file).getName(0)).distinct())
        .hasSize(15);
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(some);
    arguments.addAll(List.of("--device", "cpu", "--seed", Kbx.SEED, "--json"));
    arguments.addAll(List.of("--timeout", Patience.SECONDS)); // All end, on a busy machine late.
    arguments.addAll(List.of("--out", folder.resolve("kbx-out")));
    Kbx.Result result = Kbx.here(arguments.toArray());
    assertThat(found(result)).as(result.err()).isEqualTo(expected(some));
  }
}
