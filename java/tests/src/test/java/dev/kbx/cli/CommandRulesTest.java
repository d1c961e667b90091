package dev.kbx.cli;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.app.WorkerSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** What all commands have in common, as CONTRIBUTING.md states it. */
class CommandRulesTest {
  /** The newest run alone cannot be meant. */
  private static final Set<String> NEEDS_RUNS =
      Set.of("kbx compare", "kbx runs compare", "kbx runs delete", "kbx runs copy");

  private static final Pattern WRITES =
      Pattern.compile("(?i)^(also )?write|\\bgoes\\b|file to write|^the certificate");

  private static final Set<String> FOREIGN = Set.of("kbx generate-completion", "kbx help");

  @TempDir private Path folder;

  private static List<CommandSpec> commands() {
    List<CommandSpec> found = new ArrayList<>();
    add(Main.all(WorkerSource.NEW), found);
    assertThat(found).hasSizeGreaterThan(45);
    return found;
  }

  private static void add(CommandLine command, List<CommandSpec> to) {
    CommandSpec spec = command.getCommandSpec();
    if (FOREIGN.contains(spec.qualifiedName())) return;
    to.add(spec);
    command.getSubcommands().values().forEach(each -> add(each, to));
  }

  private static Stream<OptionSpec> options(CommandSpec command) {
    return command.options().stream().filter(option -> !option.hidden());
  }

  @Test
  void runsArePositionalAndByDefaultTheNewest() {
    for (CommandSpec command : commands()) {
      String name = command.qualifiedName();
      assertThat(options(command).map(OptionSpec::longestName)).as(name).doesNotContain("--run");
      for (PositionalParamSpec argument : command.positionalParameters()) {
        if (!argument.paramLabel().equals("RUN") || NEEDS_RUNS.contains(name)) continue;
        assertThat(argument.arity().min()).as(name).isZero();
        assertThat(text(argument.description())).as(name).contains("newest", "in --out");
        assertThat(command.positionalParameters().getLast()).as(name).isSameAs(argument);
      }
    }
  }

  @Test
  void outIsAResultsFolderAndOutputIsWhatElseIsWritten() {
    for (CommandSpec command : commands()) {
      for (OptionSpec option : options(command).toList()) {
        String name = command.qualifiedName() + " " + option.longestName();
        if (option.longestName().equals("--out")) {
          assertThat(text(option.description())).as(name).containsIgnoringCase("results folder");
        } else if (WRITES.matcher(text(option.description())).find() && option.arity().max() > 0) {
          assertThat(option.longestName()).as(name).isEqualTo("--output");
        }
      }
    }
  }

  @Test
  void longHelpsHaveSectionsAndAnExample() {
    int longOnes = 0;
    for (CommandSpec command : commands()) {
      Map<HelpSection, List<OptionSpec>> sections = CommandHelp.sections(command);
      if (options(command).count() <= CommandHelp.ONE_LIST) continue;
      longOnes++;
      assertThat(sections.get(HelpSection.OTHER))
          .as(command.qualifiedName())
          .extracting(OptionSpec::longestName)
          .containsExactlyInAnyOrder("--help", "--stack-trace", "--version");
      assertThat(help(command)).contains("Example", "\nWhere it runs:\n");
    }
    assertThat(longOnes).isBetween(5, 12);
  }

  @Test
  void helpBreaksBetweenWordsWithin80Columns() {
    for (CommandSpec command : commands()) {
      String help = help(command);
      assertThat(help.lines()).as(command.qualifiedName()).allMatch(line -> line.length() <= 80);
      Set<String> printed = words(help);
      options(command)
          .flatMap(option -> words(text(option.description())).stream())
          .forEach(word -> assertThat(printed).as(command.qualifiedName()).contains(word));
    }
  }

  /** Sourced in bash, the script completes the name of a command, however kbx is called. */
  @Test
  void theCompletionScriptCompletes() throws IOException, InterruptedException {
    Path script = folder.resolve("kbx.bash");
    Files.writeString(script, Kbx.here("generate-completion").out());
    String ask =
        """
        source %s
        COMP_WORDS=(./kbx ana); COMP_CWORD=1; COMP_LINE='./kbx ana'; COMP_POINT=9
        _complete_kbx; echo "${COMPREPLY[*]}"; complete -p kbx
        """
            .formatted(script);
    Process bash = new ProcessBuilder("bash", "-c", ask).redirectErrorStream(true).start();
    String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(said).isZero();
    assertThat(said).contains("analyze").contains("complete ");
  }

  private static String help(CommandSpec command) {
    return command.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF);
  }

  private static Set<String> words(String text) {
    return Stream.of(text.split("\\s+")).collect(toSet());
  }

  private static String text(String... lines) {
    return Stream.of(lines).collect(joining(" ")).replace("%n", " ");
  }
}
