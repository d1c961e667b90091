package dev.kbx.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.document.Latex;
import dev.kbx.document.MarkdownRenderer;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a task, a method or a message is called, TeX prints it and does nothing else. */
class LatexTest {
  private static final String ACTIVE = "\\{}$&#%_^~<>|\"'`-[]?!*,";

  /** All that {@link Latex#escape} may write beside letters. */
  private static final Pattern WRITTEN =
      Pattern.compile(
          "\\\\[&%$#_{}]|\\\\text[a-z]+\\{\\}|\\\\ldots\\{\\}|\\{[-\\[\\]?!*,]\\}|-{2,3}"
              + "|\\$(-|\\\\[a-z]+|\\^2|\\^\\\\circ)\\$");

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "fused_add_gelu fused\\_add\\_gelu",
        "100% 100\\%",
        "a&b#c$d a\\&b\\#c\\$d",
        "{x} \\{x\\}",
        "\\input \\textbackslash{}input",
        "^~ \\textasciicircum{}\\textasciitilde{}",
        "--json {-}{-}json",
        "[1] {[}1{]}",
        "*a,,b {*}a{,}{,}b",
        "1–2 1--2",
        "é é",
        "中 {?}",
      })
  void specialCharactersAreEscaped(String text, String tex) {
    assertThat(Latex.escape(text)).isEqualTo(tex);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyTextIsEscaped(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      String text = anyText(random);
      String rest = WRITTEN.matcher(Latex.escape(text)).replaceAll("");
      assertThat(rest.chars().filter(c -> c != '-').noneMatch(c -> ACTIVE.indexOf(c) >= 0))
          .as("%s gave %s", text, Latex.escape(text))
          .isTrue();
      assertThat(
              rest.codePoints().allMatch(c -> (c >= ' ' && c < 0x7f) || (c >= 0xc0 && c <= 0xff)))
          .as(text)
          .isTrue();
    }
  }

  private static String anyText(Random random) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(12);
    for (int i = 0; i < length; i++) {
      switch (random.nextInt(4)) {
        case 0 -> text.appendCodePoint(random.nextInt(Character.MAX_CODE_POINT + 1));
        case 1 -> text.append((char) random.nextInt(0x100));
        default -> text.append(ACTIVE.charAt(random.nextInt(ACTIVE.length())));
      }
    }
    return text.toString();
  }

  @Test
  void specialCharactersOfMarkdownAreEscaped() {
    assertThat(MarkdownRenderer.escape("fused_add_gelu")).isEqualTo("fused_add_gelu");
    assertThat(MarkdownRenderer.escape("_a_ *b* `c` <d> a|b [e](f) \\ &amp;"))
        .isEqualTo("\\_a\\_ \\*b\\* \\`c\\` &lt;d> a\\|b \\[e\\](f) \\\\ &amp;amp;");
    assertThat(MarkdownRenderer.escape("two\nlines | end")).isEqualTo("two lines \\| end");
  }
}
