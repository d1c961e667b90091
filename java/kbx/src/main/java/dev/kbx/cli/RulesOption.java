package dev.kbx.cli;

import dev.kbx.check.Rules;
import java.util.List;
import picocli.CommandLine.Option;

/** Which static rules are switched on. */
final class RulesOption {
  @Option(
      names = "--off",
      paramLabel = "ID",
      split = ",",
      description = "Switch static rules off. 'kbx check --rules' lists all.")
  private List<String> off = List.of();

  /** The ids that are switched off, each once, sorted. */
  List<String> off() {
    return off.stream().map(String::strip).distinct().sorted().toList();
  }

  /** The rules that are left. Throws UnknownRule. */
  Rules rules() {
    return Rules.all().without(off());
  }
}
