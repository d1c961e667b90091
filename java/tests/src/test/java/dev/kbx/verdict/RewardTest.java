package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The cases that the Python client is tested with, too: both give the same reward. */
class RewardTest {
  private static Stream<Arguments> cases() throws IOException {
    Path file = Path.of("clients/python/tests/alone/rewards.json");
    return Json.mapper()
        .readTree(Files.readString(file))
        .valueStream()
        .map(each -> Arguments.of(each.path("case").asString(), each));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void rewardIsThatOfThePythonClient(String name, JsonNode one) {
    ObjectNode verdict = (ObjectNode) one.path("verdict");
    verdict.remove("task");
    Optional<Double> reward = Reward.of(Json.mapper().treeToValue(verdict, Judgement.class));
    JsonNode expected = one.path("reward");
    if (expected.isNull()) {
      assertThat(reward).as(name).isEmpty();
    } else {
      assertThat(reward.orElseThrow()).as(name).isCloseTo(expected.doubleValue(), within(1e-9));
    }
  }
}
