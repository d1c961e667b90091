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
    values.put("facts", facts(listed, table.get("architectures").get(arch)));
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

  private List<String> facts(Optional<JsonNode> listed, @Nullable JsonNode architecture) {
    List<String> facts = new ArrayList<>();
    listed.ifPresent(known -> addDevice(facts, known));
    if (architecture != null) addArchitecture(facts, architecture);
    addPeaks(facts, listed);
    return facts;
  }

  private static void addDevice(List<String> facts, JsonNode known) {
    facts.add("streaming multiprocessors (SMs): " + known.get("sms").asString());
    facts.add("memory: %s GB".formatted(known.get("memory_gb").asString()));
    if (known.has("l2_mb")) facts.add("L2 cache: %s MB".formatted(known.get("l2_mb").asString()));
  }

  private static void addArchitecture(List<String> facts, JsonNode arch) {
    facts.add(
        "shared memory of a block: at most %s KB".formatted(arch.get("shared_kb").asString()));
    facts.add("threads of an SM: at most " + arch.get("threads").asString());
    facts.add("registers: 65536 an SM, at most 255 a thread");
  }

  private void addPeaks(List<String> facts, Optional<JsonNode> listed) {
    Double copy = peaks.copyGbs();
    if (copy != null) facts.add("measured memory bandwidth: %s GB/s".formatted(rounded(copy)));
    else
      listed.ifPresent(known ->
          facts.add("listed memory bandwidth: %s GB/s".formatted(known.get("gbs").asString())));
    if (!peaks.tflops().isEmpty()) facts.add("measured matrix products: " + rates(peaks.tflops()));
    else
      listed.ifPresent(
          known -> facts.add("listed dense matrix products: " + rates(rates(known.get("tflops")))));
  }

  private static Map<String, Double> rates(JsonNode tflops) {
    Map<String, Double> rates = new LinkedHashMap<>();
    tflops.properties().forEach(rate -> rates.put(rate.getKey(), rate.getValue().asDouble()));
    return rates;
  }

  private static String rates(Map<String, Double> tflops) {
    List<String> rates = new ArrayList<>();
    tflops.forEach((precision, rate) -> rates.add(precision + " " + rounded(rate)));
    return String.join(", ", rates) + " TFLOP/s";
  }

  private static String rounded(double value) {
    return value < 100
        ? String.format(Locale.ROOT, "%.1f", value)
        : String.format(Locale.ROOT, "%.0f", value);
  }
}
