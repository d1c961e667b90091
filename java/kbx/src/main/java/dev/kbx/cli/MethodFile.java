package dev.kbx.cli;

import dev.kbx.app.Reason;
import dev.kbx.error.InputException;
import dev.kbx.llm.TomlTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import tools.jackson.databind.JsonNode;

/** {@code FILE.toml} of {@code kbx run}: flags as keys, and a {@code [[method]]} table each. */
record MethodFile(Path file, JsonNode document) {
  private static final String METHOD = "method";

  /** A flag of a call, which is read before the file. */
  private static final String STACK_TRACE = "stack-trace";

  /** For messages: all but the methods. */
  private static final String WHOLE = "the file";

  static MethodFile read(Path file) {
    try {
      return new MethodFile(file, TomlTable.tree(file.toString(), Files.readString(file)));
    } catch (IOException e) {
      throw new InputException("%s: cannot be read: %s".formatted(file, Reason.of(e)), e);
    }
  }

  /** The methods, in order. */
  List<MethodFlags> methods() {
    JsonNode tables = document.path(METHOD);
    if (!tables.isArray() || tables.isEmpty()) {
      throw new InputException(
          "%s: has no [[method]]; write one with method = \"…\" and model = \"…\"".formatted(file));
    }
    List<MethodFlags> methods = new ArrayList<>();
    for (JsonNode table : tables) methods.add(method(table, methods.size() + 1));
    return methods;
  }

  /**
   * Gives a command, which was parsed, the file's keys for what was not given beside it. Throws
   * {@link InputException} if a flag of methods was: which of them it is for is not known.
   */
  void complete(CommandLine command) {
    for (OptionSpec given : command.getParseResult().matchedOptions()) {
      if (!ofMethods().contains(key(given))) continue;
      throw new InputException(
          "%s: %s has the methods; write %s into its [[method]] tables"
              .formatted(given.longestName(), file, key(given)));
    }
    List<String> all = command.getParseResult().originalArgs();
    List<String> own = all.subList(all.indexOf(command.getCommandName()) + 1, all.size());
    fill(command, document, WHOLE, own);
  }

  private MethodFlags method(JsonNode table, int number) {
    MethodFlags flags = new MethodFlags();
    CommandLine line = new CommandLine(CommandSpec.forAnnotatedObject(flags));
    line.registerConverter(Path.class, Values::path);
    fill(line, table, "[[method]]", List.of());
    flags.writtenIn(file, number);
    return flags;
  }

  private void fill(CommandLine line, JsonNode table, String place, List<String> arguments) {
    refuseUnknown(table, line.getCommandSpec(), place);
    line.setDefaultValueProvider(new Keys(table));
    try {
      line.parseArgs(arguments.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new InputException(
          "%s: %s".formatted(file, Values.message(e).orElse(String.valueOf(e.getMessage()))));
    }
  }

  private void refuseUnknown(JsonNode table, CommandSpec spec, String place) {
    List<String> known =
        spec.options().stream()
            .filter(option -> !option.usageHelp() && !option.versionHelp())
            .map(MethodFile::key)
            .filter(key -> !key.equals(STACK_TRACE))
            .filter(key -> place.equals(WHOLE) != ofMethods().contains(key))
            .sorted()
            .toList();
    for (String key : table.propertyNames()) {
      if (key.equals(METHOD) && place.equals(WHOLE)) continue;
      if (place.equals(WHOLE) && ofMethods().contains(key)) {
        throw new InputException("%s: %s is a key of [[method]] tables".formatted(file, key));
      }
      if (!known.contains(key)) {
        throw new InputException(
            "%s: %s is not a key of %s; known: %s"
                .formatted(file, key, place, String.join(", ", known)));
      }
      if (table.get(key).isValueNode()) continue;
      throw new InputException(
          "%s: %s is not a single value; write %s = \"…\", with several separated by commas"
              .formatted(file, key, key));
    }
  }

  /** Keys of {@code [[method]]} tables. */
  private static Set<String> ofMethods() {
    return CommandSpec.forAnnotatedObject(new MethodFlags()).options().stream()
        .map(MethodFile::key)
        .collect(Collectors.toSet());
  }

  private static String key(OptionSpec option) {
    return option.longestName().replaceFirst("^--", "");
  }

  /** A table's values as the defaults of options. */
  private record Keys(JsonNode table) implements IDefaultValueProvider {
    @Override
    public String defaultValue(ArgSpec argument) {
      if (!(argument instanceof OptionSpec option)) return argument.defaultValue();
      JsonNode value = table.get(key(option));
      return Optional.ofNullable(value)
          .filter(JsonNode::isValueNode)
          .map(JsonNode::asString)
          .orElse(argument.defaultValue());
    }
  }
}
