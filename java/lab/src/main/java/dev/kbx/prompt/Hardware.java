package dev.kbx.prompt;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a prompt says about a device: facts of {@code hardware/devices.json} by its name, else by
 * its architecture, and measured peaks.
 */
final class Hardware {
  private static final String FOLDER = "hardware/";
  private static final String CPU = "cpu";

  private final Prompts prompts;
  private final Verdict.Device device;
  private final MeasuredPeaks peaks;
  private final JsonNode table;

  Hardware(Prompts prompts, Verdict.Device device, MeasuredPeaks peaks) {
    this.prompts = prompts;
    this.device = device;
    this.peaks = peaks;
    this.table = Json.mapper().readTree(prompts.text(FOLDER + "devices.json"));
  }

  /** The values of the part {@code hardware}. */
  Map<String, Object> values() {
    Optional<JsonNode> listed = listed();
    String arch = listed.map(known -> known.get("arch").asString()).orElseGet(this::arch);
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("cpu", isCpu());
    values.put("name", isCpu() ? "" : device.name());
    values.put("arch", arch);
    values.put("device", listed.<Object>map(Hardware::facts).orElse(false));
    values.put("architecture", limits(table.get("architectures").get(arch)));
    values.putAll(peaks(listed));
    values.put("practice", practice(arch));
    return values;
  }

  private boolean isCpu() {
    return device.kind().equals(CPU);
  }

  /** The compile target; empty for a CPU whose target is not named. */
  private String arch() {
    String arch = device.arch();
    return arch != null && arch.startsWith("sm_") ? arch : "";
  }

  private Optional<JsonNode> listed() {
    String name = device.name().toLowerCase(Locale.ROOT);
    return table
        .get("devices")
        .valueStream()
        .filter(known -> name.contains(known.get("match").asString().toLowerCase(Locale.ROOT)))
        .findFirst();
  }

  private String practice(String arch) {
    String template = FOLDER + arch;
    return prompts.render(prompts.has(template) ? template : FOLDER + "generic", Map.of()).strip();
  }

  private static Map<String, String> facts(JsonNode known) {
    return Map.of(
        "sms", known.get("sms").asString(),
        "memory", known.get("memory_gb").asString(),
        "l2", known.path("l2_mb").asString(""));
  }

  private static Object limits(@Nullable JsonNode architecture) {
    return architecture == null
        ? false
        : Map.of(
            "shared", architecture.get("shared_kb").asString(),
            "threads", architecture.get("threads").asString());
  }

  /** Measured peaks, in place of those that were not measured listed ones. */
  private Map<String, String> peaks(Optional<JsonNode> listed) {
    Double copy = peaks.copyGbs();
    boolean rates = !peaks.tflops().isEmpty();
    return Map.of(
        "measuredBandwidth", copy == null ? "" : rounded(copy),
        "listedBandwidth",
            copy != null ? "" : listed.map(known -> known.get("gbs").asString()).orElse(""),
        "measuredProducts", rates ? rates(peaks.tflops()) : "",
        "listedProducts",
            rates ? "" : listed.map(known -> rates(rates(known.get("tflops")))).orElse(""));
  }

  private static Map<String, Double> rates(JsonNode tflops) {
    Map<String, Double> rates = new LinkedHashMap<>();
    tflops.properties().forEach(rate -> rates.put(rate.getKey(), rate.getValue().asDouble()));
    return rates;
  }

  private static String rates(Map<String, Double> tflops) {
    List<String> rates = new ArrayList<>();
    tflops.forEach((precision, rate) -> rates.add(precision + " " + rounded(rate)));
    return String.join(", ", rates);
  }

  private static String rounded(double value) {
    return value < 100
        ? String.format(Locale.ROOT, "%.1f", value)
        : String.format(Locale.ROOT, "%.0f", value);
  }
}
