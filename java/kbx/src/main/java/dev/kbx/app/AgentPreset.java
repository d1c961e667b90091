package dev.kbx.app;

import dev.kbx.error.InputException;
import dev.kbx.llm.ModelGateway;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Agents whose command lines kbx knows. In words and values <code>{model}</code> is the model as
 * its provider calls it, and <code>{provider}</code> the provider.
 */
public enum AgentPreset {
  CLAUDE_CODE(
      "claude-code",
      Set.of("anthropic"),
      List.of(
          "claude", "-p", Words.PROMPT, "--dangerously-skip-permissions", "--model", Words.MODEL),
      Map.of(
          "ANTHROPIC_MODEL", Words.MODEL,
          "ANTHROPIC_SMALL_FAST_MODEL", Words.MODEL,
          "ANTHROPIC_DEFAULT_HAIKU_MODEL", Words.MODEL,
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1",
          "DISABLE_AUTOUPDATER", "1"),
      Map.of()),
  CODEX(
      "codex",
      Set.of("openai"),
      List.of(
          "codex",
          "exec",
          "--skip-git-repo-check",
          "--dangerously-bypass-approvals-and-sandbox",
          "-m",
          Words.MODEL,
          "-c",
          "model_provider=kbx",
          "-c",
          "model_providers.kbx={name=\"kbx\",base_url=\"http://127.0.0.1:8080/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}",
          Words.PROMPT),
      Map.of(),
      Map.of()),
  GEMINI_CLI(
      "gemini-cli",
      Set.of("gemini"),
      List.of("gemini", "--yolo", "-m", Words.MODEL, "-p", Words.PROMPT),
      Map.of("GEMINI_MODEL", Words.MODEL, "GEMINI_CLI_TRUST_WORKSPACE", "true"),
      // Otherwise it takes an address of its own for a gateway that has another way to sign in.
      Map.of(
          ".gemini/settings.json",
          "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n")),
  MINI_SWE_AGENT(
      "mini-swe-agent",
      Set.of("openai", "anthropic"),
      List.of("mini", "-y", "--exit-immediately", "-m", "{provider}/{model}", "-t", Words.PROMPT),
      Map.of(
          "MSWEA_CONFIGURED", "true",
          "MSWEA_COST_TRACKING", "ignore_errors",
          "MSWEA_SILENT_STARTUP", "1",
          "ANTHROPIC_API_BASE", "http://127.0.0.1:8080"),
      Map.of());

  private final String label;

  @SuppressWarnings("ImmutableEnumChecker") // What the constants are made with cannot be changed.
  private final Set<String> providers;

  @SuppressWarnings("ImmutableEnumChecker") // What the constants are made with cannot be changed.
  private final List<String> words;

  @SuppressWarnings("ImmutableEnumChecker") // What the constants are made with cannot be changed.
  private final Map<String, String> environment;

  @SuppressWarnings("ImmutableEnumChecker") // What the constants are made with cannot be changed.
  private final Map<String, String> settings;

  AgentPreset(
      String label,
      Set<String> providers,
      List<String> words,
      Map<String, String> environment,
      Map<String, String> settings) {
    this.label = label;
    this.providers = providers;
    this.words = words;
    this.environment = environment;
    this.settings = settings;
  }

  private static final class Words {
    static final String PROMPT = "Read TASK.md in this folder, and do what it says.";
    static final String MODEL = "{model}";

    private Words() {}
  }

  /** The one that a {@code --program} names. */
  public static Optional<AgentPreset> of(@Nullable String program) {
    return Arrays.stream(values()).filter(each -> each.label.equals(program)).findFirst();
  }

  /** The program and its arguments, with names for the model. */
  public List<String> words() {
    return words;
  }

  /** Files in its home folder, by path. */
  Map<String, String> settings() {
    return settings;
  }

  /** What it reads of its environment beside the addresses of its model. */
  Map<String, String> environment(@Nullable ModelGateway gateway) {
    Map<String, String> filled = new HashMap<>();
    environment.forEach((name, value) -> filled.put(name, filled(value, gateway)));
    return filled;
  }

  /**
   * A word or value with the model's names.
   *
   * @throws InputException if the agent does not speak the format of the model's provider
   */
  String filled(String word, @Nullable ModelGateway gateway) {
    if (gateway == null || !providers.contains(gateway.provider())) {
      throw new InputException(
          "--program %s: asks models of %s alone; name one with --model"
              .formatted(label, String.join(" or ", providers.stream().sorted().toList())));
    }
    return word.replace("{model}", gateway.model()).replace("{provider}", gateway.provider());
  }
}
