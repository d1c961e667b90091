package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A kernel that does what the prompt of the published grade asks, and no more, is correct, and its
 * verdict names what it breaks: that is how {@code corpus/published} was written.
 */
class PublishedKernelsTest {
  private static final Path KERNELS = Kbx.home().resolve("corpus/published");
  private static final Pattern BREAKS = Pattern.compile("^breaks: (.+)$", Pattern.MULTILINE);

  @TempDir private Path folder;

  /** Status, then the properties that it breaks. */
  private static String ending(String status, Stream<String> breaks) {
    return status + ", breaks " + breaks.collect(Collectors.toCollection(TreeSet::new));
  }

  private static Map<String, String> expected() throws IOException {
    Map<String, String> endings = new TreeMap<>();
    try (Stream<Path> files = Files.walk(KERNELS)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).toList()) {
        Matcher line = BREAKS.matcher(Files.readString(file));
        assertThat(line.find()).as("%s says what it breaks", file).isTrue();
        Stream<String> names = Arrays.stream(line.group(1).split(", ", -1));
        endings.put(
            KERNELS.relativize(file).toString(),
            ending("correct", names.filter(name -> !name.equals("none"))));
      }
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
  void eachIsCorrectAndBreaksWhatItSays() throws Exception {
    Map<String, String> expected = expected();
    Set<String> categories =
        expected.keySet().stream()
            .map(file -> file.substring(0, file.indexOf('/')))
            .collect(Collectors.toSet());
    assertThat(categories).hasSize(15);
    assertThat(expected).hasSizeGreaterThanOrEqualTo(60);
    Kbx.Result result =
        Kbx.here(
            "eval",
            KERNELS,
            "--device",
            "cpu",
            "--seed",
            Kbx.SEED,
            "--json",
            "--out",
            folder.resolve("kbx-out"));
    assertThat(found(result)).as(result.err()).isEqualTo(expected);
  }
}
