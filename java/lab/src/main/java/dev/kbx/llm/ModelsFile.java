package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.error.InputException;
import dev.kbx.llm.ModelSettings.Dialect;
import dev.kbx.llm.ModelSettings.Limits;
import dev.kbx.llm.ModelSettings.Thinking;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The configuration of models: {@code [[model]]} tables. */
final class ModelsFile {
  /** What replies are read from that no provider gives. */
  private static final List<String> RESERVED = List.of("replay:", "command:");

  private final Path file;
  private final Map<String, String> environment;

  private ModelsFile(Path file, Map<String, String> environment) {
    this.file = file;
    this.environment = environment;
  }

  /** The models, in the file's order; none if there is no file. */
  static List<ModelSettings> read(Path file, Map<String, String> environment) {
    if (!Files.exists(file)) return List.of();
    try {
      return new ModelsFile(file, environment).parse(Files.readString(file));
    } catch (IOException e) {
      throw new InputException(file + ": cannot be read as text; is it a file of yours, in UTF-8?");
    }
  }

  private List<ModelSettings> parse(String text) {
    TomlTable document = TomlTable.parse(file.toString(), text);
    List<ModelSettings> models = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode table : document.tables("model")) {
      ModelSettings model = model(table, models.size() + 1);
      if (!names.add(model.name())) {
        throw new InputException("%s: two models are named %s".formatted(file, model.name()));
      }
      models.add(model);
    }
    document.finish();
    return models;
  }

  private ModelSettings model(JsonNode node, int number) {
    String place = "%s: [[model]] %d".formatted(file, number);
    if (node.path("name").isString()) place += " (" + node.path("name").asString() + ")";
    TomlTable table = new TomlTable(place, node);
    if (table.has("key")) {
      throw table.invalid("key", "is not read: keys do not belong here; name key_env or key_file");
    }
    String name = name(table);
    ModelSettings.Provider provider = provider(table);
    String address = table.text("base_url");
    ModelSettings model =
        new ModelSettings(
            name,
            provider,
            address == null ? provider.address() : address(table, address),
            modelName(table, name, provider),
            key(table, provider, address != null),
            new Limits(
                table.count("parallel"),
                table.count("requests_per_minute"),
                table.count("tokens_per_minute")),
            new ModelSettings.RetryPolicy(
                requireNonNullElse(
                    table.count("attempts"), ModelSettings.RetryPolicy.DEFAULT.attempts()),
                table.seconds("retry_seconds", ModelSettings.RetryPolicy.DEFAULT.firstPause())),
            table.seconds("timeout_seconds", ModelSettings.SILENCE),
            dialect(table),
            price(table));
    table.finish();
    return model;
  }

  private static String name(TomlTable table) {
    String name = table.needed("name");
    if (name.equals(ModelCatalog.NONE)) throw table.invalid("name", "must not be none");
    for (String reserved : RESERVED) {
      if (name.startsWith(reserved)) throw table.invalid("name", "must not begin with " + reserved);
    }
    return name;
  }

  private static ModelSettings.Provider provider(TomlTable table) {
    String label = table.needed("provider");
    return ModelSettings.Provider.of(label)
        .orElseThrow(() -> table.invalid("provider", "must be openai, anthropic or gemini"));
  }

  /** What follows the prefix in {@code openai:gpt-5}; else the whole name. */
  private static String modelName(TomlTable table, String name, ModelSettings.Provider provider) {
    String named = table.text("model");
    if (named != null) return named;
    String prefix = provider.label() + ":";
    return name.startsWith(prefix) ? name.substring(prefix.length()) : name;
  }

  private static URI address(TomlTable table, String text) {
    URI address;
    try {
      address = URI.create(text.replaceAll("/+$", ""));
    } catch (IllegalArgumentException e) {
      throw table.invalid("base_url", "is not an address: " + text);
    }
    String scheme = address.getScheme() == null ? "" : address.getScheme().toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || address.getHost() == null) {
      throw table.invalid("base_url", "must begin with http:// or https:// and name a host");
    }
    if (address.getUserInfo() != null || address.getQuery() != null) {
      throw table.invalid("base_url", "must not hold a password or a query; keys go in key_env");
    }
    return address;
  }

  /** A server at an address of one's own needs no key unless one is named. */
  private ModelSettings.Key key(
      TomlTable table, ModelSettings.Provider provider, boolean elsewhere) {
    String variable = table.text("key_env");
    String path = table.text("key_file");
    if (variable != null && path != null) throw table.invalid("key_file", "and key_env: name one");
    if (variable != null) return new ModelSettings.Key(variable, null);
    if (path != null) return new ModelSettings.Key(null, file(path));
    return elsewhere ? ModelSettings.Key.NONE : provider.key();
  }

  /** Relative to this file; {@code ~/} is the user's folder. */
  private Path file(String path) {
    String home = environment.getOrDefault("HOME", "");
    if (path.startsWith("~/") && !home.isEmpty()) return Path.of(home, path.substring(2));
    return file.toAbsolutePath().resolveSibling(path).normalize();
  }

  private static Dialect dialect(TomlTable table) {
    return new Dialect(
        table.flag("stream", true),
        table.count("max_tokens"),
        table.text("max_tokens_field"),
        thinking(table),
        table.flag("prompt_cache", true),
        new LinkedHashSet<>(table.texts("without")),
        table.members("extra"));
  }

  private static Thinking thinking(TomlTable table) {
    String label = table.text("thinking");
    if (label == null) return Thinking.EFFORT;
    return switch (label) {
      case "effort" -> Thinking.EFFORT;
      case "budget" -> Thinking.BUDGET;
      default -> throw table.invalid("thinking", "must be effort or budget");
    };
  }

  private static @Nullable Price price(TomlTable table) {
    Double input = table.number("price_input");
    Double output = table.number("price_output");
    Double cached = table.number("price_cached_input");
    Double written = table.number("price_cache_write");
    LocalDate asOf = table.date("price_as_of");
    if (Stream.of(input, output, cached, written, asOf).allMatch(Objects::isNull)) return null;
    if (input == null || output == null || asOf == null) {
      throw table.invalid(
          "price_input, price_output and price_as_of", "belong together: give all three");
    }
    return new Price(input, output, cached, written, asOf);
  }
}
