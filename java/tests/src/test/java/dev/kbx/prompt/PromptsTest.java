package dev.kbx.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.error.InputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PromptsTest {
  @TempDir Path folder;

  private Prompts with(String file, String text) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
    return Prompts.in(folder);
  }

  @Test
  void rendersPartsAndKeepsText() throws IOException {
    with("parts/name.mustache", "<{{name}}>\n");
    Prompts prompts = with("a/b.mustache", "{{! uses c/ }}\nHello {{>parts/name}}");
    with("c/d.txt", "");
    assertThat(prompts.render("a/b", Map.of("name", "x & {{y}}"))).endsWith("Hello <x & {{y}}>\n");
  }

  @Test
  void othersTakeThePlaceOfThoseOfTheirNames() throws IOException {
    with("parts/name.mustache", "kept\n");
    Prompts prompts = with("a/b.mustache", "Hello {{>parts/name}}");
    Path others = Files.createDirectories(folder.resolve("others"));
    Files.createDirectories(others.resolve("parts"));
    Files.writeString(others.resolve("parts/name.mustache"), "replaced\n");
    Prompts replaced = prompts.with(others);
    assertThat(replaced.render("a/b", Map.of())).isEqualTo("Hello replaced\n");
    assertThat(prompts.render("a/b", Map.of())).isEqualTo("Hello kept\n");
    assertThat(replaced.version("a/b")).isNotEqualTo(prompts.version("a/b"));
  }

  @Test
  void aMissingValueIsNamed() throws IOException {
    Prompts prompts = with("a/b.mustache", "One\n{{two}}\n");
    assertThatThrownBy(() -> prompts.render("a/b", Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("a/b.mustache:2: no value for 'two'");
    Prompts section = with("a/c.mustache", "{{#three}}x{{/three}}");
    assertThatThrownBy(() -> section.render("a/c", Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("'three'");
  }

  @Test
  void badFilesAreNamed() throws IOException {
    assertThatThrownBy(() -> Prompts.in(folder.resolve("none")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("none");
    Prompts prompts = with("a/b.mustache", "{{#open}}");
    assertThatThrownBy(() -> prompts.render("a/b", Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("a/b.mustache: is not valid Mustache");
    assertThatThrownBy(() -> prompts.render("a/none", Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("a/none.mustache: there is no such prompt");
  }

  @Test
  void versionCoversAllUsedTemplates() throws IOException {
    with("a/b.mustache", "{{>parts/p}}");
    with("parts/p.mustache", "{{! uses chosen/ }}{{! uses parts/q }}");
    with("parts/q.mustache", "q");
    with("chosen/one.json", "1");
    String before = with("other/x.mustache", "x").version("a/b");
    assertThat(before).matches("[0-9a-f]{64}");
    assertThat(with("other/x.mustache", "changed").version("a/b")).isEqualTo(before);
    String part =
        with("parts/p.mustache", "{{! uses chosen/ }}{{! uses parts/q }}.").version("a/b");
    assertThat(part).isNotEqualTo(before);
    String declared = with("parts/q.mustache", "changed").version("a/b");
    assertThat(declared).isNotEqualTo(part);
    String chosen = with("chosen/one.json", "2").version("a/b");
    assertThat(chosen).isNotEqualTo(declared);
    assertThat(with("chosen/two.json", "").version("a/b")).isNotEqualTo(chosen);
  }

  @Test
  void everyBundledTemplateHasAVersion() throws IOException {
    Path bundled = Path.of("prompts");
    Prompts prompts = Prompts.bundled(Path.of(""));
    try (var files = Files.walk(bundled)) {
      for (Path file :
          (Iterable<Path>) files.filter(f -> f.toString().endsWith(".mustache"))::iterator) {
        String name = bundled.relativize(file).toString().replace(".mustache", "");
        assertThat(prompts.version(name)).as(name).hasSize(64);
      }
    }
  }
}
