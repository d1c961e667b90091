package dev.kbx.llm;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The words of a command: divided by spaces, except in single or double quotes. */
public final class CommandWords {
  private static final Pattern WORD = Pattern.compile("\\s*((?:[^\\s'\"]|'[^']*'|\"[^\"]*\")+)");
  private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

  private CommandWords() {}

  /**
   * Divides a command.
   *
   * @param place what the command follows, for messages: {@code command:}
   * @throws InvalidModels if there is no word, or a quote has no end
   */
  public static List<String> of(String place, String command) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(command);
    int end = 0;
    while (matcher.lookingAt()) {
      words.add(unquoted(matcher.group(1)));
      end = matcher.end();
      matcher.region(end, command.length());
    }
    if (!command.substring(end).isBlank()) {
      throw new InvalidModels("%s%s: a quote has no end".formatted(place, command));
    }
    if (words.isEmpty()) {
      throw new InvalidModels(
          "%s names no program; say %sPROGRAM ARGUMENTS".formatted(place.strip(), place));
    }
    return words;
  }

  private static String unquoted(String word) {
    return QUOTED
        .matcher(word)
        .replaceAll(m -> Matcher.quoteReplacement(m.group(1) != null ? m.group(1) : m.group(2)));
  }
}
