package dev.kbx.cli;

import dev.kbx.verdict.RunLabel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Converters of options and parameters that refuse wrong values during parsing. */
final class Values {
  private static final String EMPTY = "is empty; name a file or folder (. is this one)";

  /** Columns of a refused value in a message. */
  private static final int MOST_SHOWN = 200;

  private Values() {}

  /** The name of a run; empty for none. */
  static final class RunName implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      return label(value, null, value);
    }
  }

  /** The note of a run; empty for none. */
  static final class RunNote implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      return label(null, value, value);
    }
  }

  private static String label(@Nullable String name, @Nullable String note, String value) {
    try {
      RunLabel _ = new RunLabel(name, note);
      return value;
    } catch (IllegalArgumentException e) {
      throw new Refused(String.valueOf(e.getMessage()));
    }
  }

  /** What is wrong with a value, and what to do; {@link #message} adds the option. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  /**
   * The message about a missing parameter, an argument too many, or a refused value, if that was
   * the cause: option or parameter, value, what is wrong. Empty for an unknown option.
   */
  static Optional<String> message(ParameterException e) {
    if (e instanceof MissingParameterException missing) return missing(missing);
    if (e instanceof UnmatchedArgumentException unmatched) return unmatched(unmatched);
    if (e.getCause() instanceof Refused refused) return refused(e, refused.getMessage());
    if (!(e.getCause() instanceof TypeConversionException)) return Optional.empty();
    Class<?> type = e.getArgSpec().type();
    if (type == int.class) return refused(e, "is not a whole number");
    if (type.isEnum()) return refused(e, "is not one of " + names(type));
    return type == double.class ? refused(e, "is not a number") : Optional.empty();
  }

  /** The constants of an enum, as they are written on a command line. */
  private static String names(Class<?> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }

  private static Optional<String> refused(ParameterException e, @Nullable String why) {
    String value = shown(e.getValue());
    return Optional.of((name(e.getArgSpec()) + " " + value).strip() + ": " + why);
  }

  /** In one line: a value may be a text of many. */
  private static String shown(@Nullable String value) {
    String clean = dev.kbx.document.Text.clean(value);
    return dev.kbx.document.Text.cut(clean, MOST_SHOWN);
  }

  private static Optional<String> unmatched(UnmatchedArgumentException e) {
    if (e.isUnknownOption()) return Optional.empty();
    CommandLine line = e.getCommandLine();
    CommandSpec command = line.getCommandSpec();
    String name = command.qualifiedName();
    if (!line.getSubcommands().isEmpty()) {
      return Optional.of(
          "'%s %s': no such command; '%s --help' lists them"
              .formatted(name, e.getUnmatched().getFirst(), name));
    }
    // A refused value ends a list of parameters and is reported as unmatched.
    List<PositionalParamSpec> parameters = command.positionalParameters();
    if (e.getUnmatched().contains("") && !parameters.isEmpty()) {
      return Optional.of(name(parameters.getLast()) + ": " + EMPTY);
    }
    return Optional.of(
        "'%s' takes no further argument '%s'; '%s --help' explains it"
            .formatted(name, e.getUnmatched().getFirst(), name));
  }

  /** What a command or an option needs; empty if picocli does not say what. */
  private static Optional<String> missing(MissingParameterException e) {
    List<ArgSpec> missing = e.getMissing();
    if (missing.size() == 1
        && missing.getFirst() instanceof OptionSpec option
        && !option.required()) {
      return Optional.of(option.longestName() + " needs " + option.paramLabel());
    }
    if (missing.isEmpty()) return Optional.empty();
    CommandSpec command = e.getCommandLine().getCommandSpec();
    Stream<? extends ArgSpec> required =
        missing.stream().anyMatch(ArgSpec::isOption)
            ? missing.stream()
            : command.positionalParameters().stream().filter(ArgSpec::required);
    String needed = required.map(Values::many).collect(Collectors.joining(" and "));
    return Optional.of(
        "'%s' needs %s; '%s --help' explains it"
            .formatted(command.qualifiedName(), needed, command.qualifiedName()));
  }

  private static String many(ArgSpec argument) {
    if (argument instanceof OptionSpec option) {
      return option.longestName() + " " + option.paramLabel();
    }
    int least = argument.arity().min();
    return (least > 1 ? "at least " + least + " × " : "") + argument.paramLabel();
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }

  /**
   * Refuses the empty path: to Java it is the current folder, and an unset shell variable expands
   * to it.
   */
  static Path path(String value) {
    if (value.isEmpty()) throw new Refused(EMPTY);
    return Path.of(value);
  }

  /** A text of at least one character. */
  static final class Text implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (value.isBlank()) throw new Refused("is empty; give a text, or leave it away");
      return value;
    }
  }

  /** A text that can be the name of a folder in another. */
  static final class FolderName implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (value.isBlank()) throw new Refused("is empty; give a text, or leave it away");
      if (!value.startsWith(".") && value.chars().noneMatch(c -> c == '/' || c < ' ')) return value;
      throw new Refused("names a folder of answers, too; leave out / and a dot at the beginning");
    }
  }

  /** A number, 0 or more. */
  static final class Temperature implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      double number = number(value);
      if (number >= 0 && Double.isFinite(number)) return number;
      throw new Refused("0 or more");
    }
  }

  /** A number above 0, at most 1. */
  static final class Probability implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      double number = number(value);
      if (number > 0 && number <= 1) return number;
      throw new Refused("above 0, at most 1");
    }
  }

  private static double number(String value) {
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException _) {
      throw new Refused("is not a number");
    }
  }

  /** A whole number, 1 or more. */
  static final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      try {
        int count = Integer.parseInt(value);
        if (count >= 1) return count;
      } catch (NumberFormatException _) {
        throw new Refused("is not a whole number");
      }
      throw new Refused("at least 1");
    }
  }

  /** A number above 0. */
  static final class Positive implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      try {
        double number = Double.parseDouble(value);
        if (number > 0 && Double.isFinite(number)) return number;
      } catch (NumberFormatException _) {
        throw new Refused("is not a number");
      }
      throw new Refused("more than 0");
    }
  }
}
