package dev.kbx.prompt;

import java.util.HashMap;
import java.util.Map;

/** The language as values of templates: its title, and true for its own name. */
final class Languages {
  private Languages() {}

  static Map<String, Object> flags(Language chosen) {
    Map<String, Object> values = new HashMap<>();
    values.put("language", chosen.title());
    for (Language language : Language.values()) values.put(language.label(), language == chosen);
    return values;
  }
}
