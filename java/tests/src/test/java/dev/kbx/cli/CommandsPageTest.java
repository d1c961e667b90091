package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/commands.md has the help of each command; with {@code -Dkbx.docs=write} it is written. */
class CommandsPageTest {
  private static final Path PAGE = Path.of("docs/commands.md");

  private static final String BEGINNING =
      """
      # All commands

      The help of each command, as `./kbx COMMAND --help` prints it; a test holds this page against it. What each is for:
      [README](../README.md). Runs that a command reads are its last arguments, and by default the newest in `--out`. `--out` is always the
      results folder; whatever else a command writes is named by `--output`.

      ## Completion

      In bash, and in zsh after `autoload -U +X bashcompinit && bashcompinit`, the tab key completes commands, options and file names after

      ```
      source <(./kbx generate-completion)                                       # in this shell
      ./kbx generate-completion > ~/.local/share/bash-completion/completions/kbx   # in every bash from now on
      ```

      however `kbx` is called: `./kbx`, by a path, or by a name on the `PATH`.
      """;

  private static final String LIST = "\nCommands:\n";
  private static final Pattern LISTED = Pattern.compile("(?m)^ {2}([a-z-]+) {2}");

  /** Of picocli, not of kbx. */
  private static final List<String> FOREIGN = List.of("generate-completion", "help");

  @Test
  void thePageHasTheHelpOfEachCommand() throws IOException {
    StringBuilder page = new StringBuilder(BEGINNING);
    add(page, List.of());
    if ("write".equals(System.getProperty("kbx.docs"))) Files.writeString(PAGE, page);
    assertThat(PAGE)
        .as("mvn test -Dtest=CommandsPageTest -Dkbx.docs=write writes it")
        .hasContent(page.toString());
  }

  private static void add(StringBuilder page, List<String> command) {
    String help = help(command);
    String marks = command.size() < 2 ? "##" : "###";
    String name = String.join(" ", command);
    page.append("\n%s kbx %s\n\n```\n%s```\n".formatted(marks, name, help).replace(" \n", "\n"));
    for (String subcommand : subcommands(help)) {
      List<String> longer = new ArrayList<>(command);
      longer.add(subcommand);
      add(page, longer);
    }
  }

  private static String help(List<String> command) {
    List<Object> words = new ArrayList<>(command);
    words.add("--help");
    Kbx.Result result = Kbx.here(words.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    return result.out();
  }

  private static List<String> subcommands(String help) {
    int from = help.indexOf(LIST);
    if (from < 0) return List.of();
    return LISTED
        .matcher(help.substring(from + LIST.length()))
        .results()
        .map(found -> found.group(1))
        .filter(name -> !FOREIGN.contains(name))
        .toList();
  }
}
