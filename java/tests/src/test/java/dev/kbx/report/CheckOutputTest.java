package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.RuleInfo;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticReport;
import dev.kbx.syntax.Place;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code kbx check} prints, in each format. */
class CheckOutputTest {
  private static final Path FOLDER = Path.of("/home/me");
  private static final List<RuleInfo> RULES =
      List.of(
          new RuleInfo(
              "patched-timer", Severity.REJECT, "Timers", "Why.", "Leave timers alone.", "x"),
          new RuleInfo("odd-grid", Severity.FLAG, "Grids", "Why.", "Use cdiv.", "x"),
          new RuleInfo("long-file", Severity.NOTE, "Length", "Why.", "Split it.", "x"));

  private static Finding finding(Severity severity, Place place, String message) {
    RuleInfo rule =
        RULES.stream().filter(each -> each.severity() == severity).findFirst().orElseThrow();
    return new Finding(rule.id(), severity, place, message, rule.advice());
  }

  private static Finding reject(Place place) {
    return finding(Severity.REJECT, place, "assigns torch.cuda.Event");
  }

  private static Checks.Checked source(String file, Finding... findings) {
    return new Checks.Checked(file, null, null, new StaticReport(null, List.of(findings)));
  }

  private static Checks checks(Severity least, Checks.Checked... sources) {
    return new Checks(List.of(sources), List.of("a.py: does not exist"), least, 0.25);
  }

  private static List<String> text(int width, Severity least, Checks.Checked... sources) {
    return new CheckText(width, false).render(checks(least, sources)).lines().toList();
  }

  private static final Place EVENT = new Place(12, 5, 21, "    torch.cuda.Event = Fake");

  @Test
  void marksThePlace() {
    assertThat(text(80, Severity.FLAG, source("k/gelu.py", reject(EVENT))))
        .containsExactly(
            "k/gelu.py:12:5: reject: patched-timer: assigns torch.cuda.Event",
            "   12 |     torch.cuda.Event = Fake",
            "      |     ^~~~~~~~~~~~~~~~",
            "      = instead: Leave timers alone.",
            "1 rejection in 1 source");
  }

  @Test
  void showsFindingsOfTheSeverityAndCountsAll() {
    Checks.Checked source =
        source(
            "a.py",
            finding(Severity.FLAG, EVENT, "one thread"),
            finding(Severity.NOTE, EVENT, "long"),
            finding(Severity.NOTE, EVENT, "longer"));
    assertThat(text(80, Severity.REJECT, source)).containsExactly("1 flag, 2 notes in 1 source");
    assertThat(String.join("\n", text(80, Severity.FLAG, source)))
        .contains("one thread")
        .doesNotContain("longer");
    assertThat(String.join("\n", text(80, Severity.NOTE, source))).contains("longer");
    assertThat(text(80, Severity.NOTE, source("a.py"), source("b.py")))
        .containsExactly("nothing found in 2 sources");
  }

  @Test
  void aBrokenSourceIsShownLikeAFinding() {
    InvalidSource broken =
        new InvalidSource(
            Status.SYNTAX_ERROR, new Place(1, 6, 7, "def f(x:"), "'(' was never closed");
    var report = new StaticReport(broken, List.of());
    assertThat(text(80, Severity.FLAG, new Checks.Checked("p.jsonl", 3, "Activation/gelu", report)))
        .containsExactly(
            "p.jsonl:3:1:6: broken: syntax_error: '(' was never closed",
            "    1 | def f(x:",
            "      |      ^",
            "1 broken in 1 source");
  }

  @Test
  void marksAlignWithTabsAndWideCharacters() {
    assertThat(text(80, Severity.FLAG, source("a.py", reject(new Place(1, 4, 7, "\t日=foo")))))
        .contains("    1 |     日=foo", "      |        ^~~");
  }

  @Test
  void controlCharactersInSourcesAreEscaped() {
    var place = new Place(1, 1, 3, "ab\u001b[2J\u202e");
    String shown = String.join("", text(80, Severity.FLAG, source("a\u001b.py", reject(place))));
    assertThat(shown).doesNotContain("\u001b").doesNotContain("\u202e");
  }

  @Test
  void aLongLineIsCutAroundThePlace() {
    String line = "a".repeat(500_000) + "BAD" + "c".repeat(500_000);
    for (int column : List.of(1, 20, 500_001, 999_990)) {
      List<String> lines =
          text(60, Severity.FLAG, source("a.py", reject(new Place(1, column, column + 3, line))));
      assertThat(lines.subList(1, 3)).as("%d", column).allMatch(each -> each.length() <= 60);
      int mark = lines.get(2).indexOf('^');
      assertThat(lines.get(2).substring(mark)).isEqualTo("^~~");
      assertThat(lines.get(1).substring(mark, mark + 3))
          .isEqualTo(line.substring(column - 1, column + 2));
    }
  }

  private static JsonNode json(String document) {
    return JsonMapper.builder().build().readTree(document);
  }

  @Test
  void jsonHasEverything() {
    JsonNode document =
        json(CheckJson.render(checks(Severity.FLAG, source("a.py", reject(EVENT))), "1.2"));
    assertThat(document.get("kbx").asString()).isEqualTo("1.2");
    assertThat(document.get("rejections").asInt()).isEqualTo(1);
    assertThat(document.get("seconds").asDouble()).isEqualTo(0.25);
    assertThat(document.get("problems").get(0).asString()).contains("does not exist");
    JsonNode source = document.get("sources").get(0);
    assertThat(source.propertyNames()).containsExactly("file", "findings");
    assertThat(source.get("findings").get(0).toString())
        .isEqualTo(
            "{\"rule\":\"patched-timer\",\"severity\":\"reject\",\"line\":12,\"column\":5,"
                + "\"end_column\":21,\"message\":\"assigns torch.cuda.Event\","
                + "\"advice\":\"Leave timers alone.\"}");
  }

  private static JsonNode sarif(Checks.Checked... sources) {
    return json(new Sarif(RULES, "1.2", FOLDER).render(checks(Severity.NOTE, sources)));
  }

  /** What the schema demands and code hosts read; other keys are not in the schema. */
  @Test
  void sarifFollowsItsSchema() {
    JsonNode log =
        sarif(
            source("k/my gelu.py", reject(EVENT), finding(Severity.FLAG, EVENT, "odd")),
            source("/elsewhere/b.py", finding(Severity.NOTE, EVENT, "long")));
    assertThat(log.propertyNames()).containsExactlyInAnyOrder("$schema", "version", "runs");
    assertThat(log.get("version").asString()).isEqualTo("2.1.0");
    JsonNode run = log.get("runs").get(0);
    assertThat(run.get("columnKind").asString()).isEqualTo("utf16CodeUnits");
    JsonNode rules = run.at("/tool/driver/rules");
    assertThat(rules.get(0).propertyNames())
        .containsExactlyInAnyOrder(
            "id", "shortDescription", "fullDescription", "help", "defaultConfiguration");
    for (JsonNode result : run.get("results")) {
      assertThat(result.propertyNames())
          .containsExactlyInAnyOrder("ruleId", "ruleIndex", "level", "message", "locations");
      assertThat(rules.get(result.get("ruleIndex").asInt()).get("id"))
          .isEqualTo(result.get("ruleId"));
      assertThat(result.get("level").asString()).isIn(Set.of("error", "warning", "note"));
      JsonNode region = result.at("/locations/0/physicalLocation/region");
      assertThat(region.get("startLine").asInt()).isPositive();
      assertThat(region.get("endColumn").asInt()).isGreaterThan(region.get("startColumn").asInt());
    }
    assertThat(run.get("results").get(0).at("/message/text").asString())
        .isEqualTo("assigns torch.cuda.Event. Leave timers alone.");
    assertThat(run.at("/results/0/locations/0/physicalLocation/artifactLocation").toString())
        .isEqualTo("{\"uri\":\"k/my%20gelu.py\",\"uriBaseId\":\"SRCROOT\"}");
    assertThat(run.at("/results/2/locations/0/physicalLocation/artifactLocation").toString())
        .isEqualTo("{\"uri\":\"file:///elsewhere/b.py\"}");
    assertThat(run.at("/invocations/0/toolExecutionNotifications/0/message/text").asString())
        .contains("does not exist");
  }

  @Test
  void sarifPointsAtTheLineOfAPrediction() {
    var report = new StaticReport(null, List.of(reject(EVENT)));
    JsonNode result = sarif(new Checks.Checked("p.jsonl", 3, null, report)).at("/runs/0/results/0");
    assertThat(result.at("/locations/0/physicalLocation/region").toString())
        .isEqualTo("{\"startLine\":3}");
    assertThat(result.at("/message/text").asString()).startsWith("line 12: ");
  }
}
