package dev.kbx.llm;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/** Text in TOML as a tree: the one place that reads it. */
public final class TomlFile {
  private static final TomlMapper MAPPER = TomlMapper.builder().build();

  /** The byte order mark that some editors put before UTF-8. */
  private static final String MARK = "\ufeff";

  private TomlFile() {}

  /**
   * @param name of the file, for messages
   */
  static TomlTable parse(String name, String text) {
    return new TomlTable(name, tree(name, text));
  }

  /**
   * The tree of a text.
   *
   * @param name of the file, for messages
   * @throws InvalidModels if it is not TOML, with its line
   */
  public static JsonNode tree(String name, String text) {
    try {
      return MAPPER.readTree(text.startsWith(MARK) ? text.substring(1) : text);
    } catch (JacksonException e) {
      var at = e.getLocation();
      String line = at == null || at.getLineNr() < 1 ? "" : ":" + at.getLineNr();
      throw new InvalidModels(
          "%s%s: is not TOML: %s".formatted(name, line, OneLine.of(e.getOriginalMessage())));
    }
  }
}
