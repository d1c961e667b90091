package dev.kbx.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.googlejavaformat.java.Formatter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every Java file is formatted by google-java-format. {@code mvn test -Dtest=FormattingTest
 * -Dkbx.format=fix} rewrites those that are not.
 *
 * <p>A test rather than a Maven plugin: the formatter uses the running JDK's parser, and Maven may
 * run on an older JDK than the code is written for. Files that have passed are not looked at again.
 */
class FormattingTest {
  @Test
  void everyFileIsFormatted() throws Exception {
    boolean fix = "fix".equals(System.getProperty("kbx.format"));
    String formatter =
        Formatter.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    Checked checked = Checked.of("formatting", formatter);
    List<Path> unformatted = new ArrayList<>();
    for (Path file : JavaSources.all()) {
      String source = Files.readString(file);
      if (checked.has(source)) continue;
      String formatted = new Formatter().formatSourceAndFixImports(source);
      if (fix || formatted.equals(source)) checked.add(formatted);
      if (formatted.equals(source)) continue;
      if (fix) Files.writeString(file, formatted);
      else unformatted.add(file);
    }
    checked.save();
    assertThat(unformatted).as("run: mvn test -Dtest=FormattingTest -Dkbx.format=fix").isEmpty();
  }
}
