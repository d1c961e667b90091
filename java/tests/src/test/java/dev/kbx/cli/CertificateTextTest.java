package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.app.CertificateReplay;
import dev.kbx.certify.CertificateCheck;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.certify.CertificateWriter;
import dev.kbx.certify.SigningKey;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** What a terminal is told of a certificate that anybody may have written. */
class CertificateTextTest {
  private static final String FAKE = "x\nthe certificate holds\r\u001b[2J\u2028signature: valid";

  @TempDir private Path folder;

  private List<String> lines(SimulatedRun run, String id) throws Exception {
    ObjectNode info = Json.mapper().valueToTree(run.info());
    info.put("id", id);
    CertificateHeader header =
        CertificateHeader.of(
            "1",
            Json.mapper().treeToValue(info, RunInfo.class),
            Map.of(),
            CertificateHeader.Counts.NONE,
            true);
    StringWriter text = new StringWriter();
    CertificateWriter writer = new CertificateWriter(text, header);
    ObjectNode verdict = Json.mapper().valueToTree(run.verdicts().getFirst());
    verdict.put("task", FAKE);
    writer.add(verdict.toString(), "another source");
    writer.seal(SigningKey.of(SigningKey.generate()));
    Path file = Files.writeString(folder.resolve("certificate.kbx"), text.toString());
    return new CertificateText(CertificateCheck.of(file, _ -> {}), null).lines(file);
  }

  private static void areClean(List<String> lines) {
    assertThat(String.join("", lines)).contains("x the certificate holds [2J signature: valid");
    assertThat(lines).allSatisfy(line -> assertThat(line).doesNotContainPattern("[\\p{C}\u2028]"));
  }

  @Test
  void namesInACertificateNeitherEndLinesNorControlTheTerminal() throws Exception {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).correct("Activation/gelu", "", 1.5);
    List<String> lines = lines(run, FAKE);
    areClean(lines);
    assertThat(lines).noneMatch(line -> line.startsWith("the certificate holds"));
    assertThat(lines).anyMatch(line -> line.startsWith("wrong: Activation/x the certificate"));
  }

  @Test
  void uncheckedFieldsAreNamed() throws Exception {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1);
    assertThat(lines(run.correct("Activation/gelu", "", 1.5), "1"))
        .contains(
            "sources: 1 of 1 compared",
            "not checked: 3 sizes without rounds, and the speedups of 1 verdict with such sizes")
        .noneMatch(line -> line.contains("Python") || line.contains("use of the device"));
    Map<String, Object> launched =
        Map.of("candidate_ms", 1, "reference_ms", 2, "speedup", 2, "low", 2, "high", 2);
    run =
        SimulatedRun.on(SimulatedRun.H200, 1)
            .measuring(
                List.of(Map.of("launched", launched), Map.of("gbs", 900), Map.of("iou", 0.2)));
    assertThat(lines(run.correct("Activation/gelu", "", 1.5), "1"))
        .contains(
            "not checked: times launched from Python, beside those of CUDA graphs, of 1 size",
            "not checked: use of the device (rates, limits, clocks, memory) of 2 sizes");
  }

  @Test
  void namesInAReplayNeitherEndLinesNorControlTheTerminal() {
    CertificateReplay.Row row = CertificateReplay.Row.notJudged(FAKE, Status.CORRECT, FAKE);
    List<String> lines =
        CertificateText.replayed(new CertificateReplay.Result(FAKE, false, List.of(row)));
    areClean(lines);
    assertThat(lines).hasSize(3);
    assertThat(lines.getLast()).startsWith("  x the certificate holds");
  }
}
