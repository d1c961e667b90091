package dev.kbx.llm;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Whose wire format is spoken, and where, unless the configuration says another address. */
enum Provider {
  OPENAI("https://api.openai.com/v1", "OPENAI_API_KEY"),
  ANTHROPIC("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
  GEMINI("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY");

  private final URI address;
  private final String variable;

  Provider(String address, String variable) {
    this.address = URI.create(address);
    this.variable = variable;
  }

  Wire wire() {
    return switch (this) {
      case OPENAI, GEMINI -> new OpenAiWire();
      case ANTHROPIC -> new AnthropicWire();
    };
  }

  URI address() {
    return address;
  }

  KeyReference key() {
    return KeyReference.inVariable(variable);
  }

  /** The name in configurations, and before the colon of a model's name. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Optional<Provider> of(String label) {
    return Stream.of(values()).filter(provider -> provider.label().equals(label)).findFirst();
  }
}
