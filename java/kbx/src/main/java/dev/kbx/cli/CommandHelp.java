package dev.kbx.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The help of a command: a long one has its options in sections, and lines break between words. */
final class CommandHelp extends Help {
  /** Visible options that are read as one list. */
  static final int ONE_LIST = 15;

  private static final int DESCRIPTION = 4;

  private CommandHelp(CommandSpec command, ColorScheme colours) {
    super(command, colours);
  }

  /** Gives a command and all its subcommands this help. */
  static void install(CommandLine commands) {
    commands.setHelpFactory(CommandHelp::new);
    abbreviate(commands);
  }

  private static void abbreviate(CommandLine command) {
    command.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    command.getSubcommands().values().forEach(CommandHelp::abbreviate);
  }

  /** The visible options, by section. */
  static Map<HelpSection, List<OptionSpec>> sections(CommandSpec command) {
    return command.options().stream()
        .filter(option -> !option.hidden())
        .sorted(Comparator.comparing(OptionSpec::longestName))
        .collect(Collectors.groupingBy(HelpSection::of, TreeMap::new, Collectors.toList()));
  }

  @Override
  public String optionList() {
    Map<HelpSection, List<OptionSpec>> sections = sections(commandSpec());
    if (sections.values().stream().mapToInt(List::size).sum() <= ONE_LIST) {
      return super.optionList();
    }
    StringBuilder all = new StringBuilder();
    sections.forEach((section, options) -> {
      Layout layout = createDefaultLayout();
      layout.addOptions(options, parameterLabelRenderer());
      all.append("%n%s:%n%s".formatted(section.heading(), layout));
    });
    return all.toString();
  }

  @Override
  public Layout createDefaultLayout(
      List<OptionSpec> options, List<PositionalParamSpec> positionals, ColorScheme colours) {
    UsageMessageSpec usage = commandSpec().usageMessage();
    TextTable table =
        TextTable.forDefaultColumns(
            colours, calcLongOptionColumnWidth(options, positionals, colours), usage.width());
    return new WholeWords(colours, table);
  }

  /** Picocli breaks lines after a dot, comma, colon or slash, too: within names and addresses. */
  private static final class WholeWords extends Layout {
    WholeWords(ColorScheme colours, TextTable table) {
      super(colours, table);
    }

    @Override
    public void layout(ArgSpec argument, Text[][] rows) {
      Text empty = colorScheme.text("");
      Help.Column column = table.columns()[DESCRIPTION];
      int width = column.width - column.indent - 1;
      List<Text[]> broken = new ArrayList<>();
      for (Text[] row : rows) {
        Text rest = row[DESCRIPTION];
        Text[] next = row.clone();
        for (int end; (end = Terminal.lineEnd(rest.plainString(), width)) > 0; ) {
          next[DESCRIPTION] = rest.substring(0, end);
          broken.add(next);
          next = new Text[] {empty, empty, empty, empty, empty};
          rest = rest.substring(end + 1);
        }
        next[DESCRIPTION] = rest;
        broken.add(next);
      }
      super.layout(argument, broken.toArray(Text[][]::new));
    }
  }
}
