package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The Python source in a model's answer.
 *
 * <p>An answer that is a Python file with the entry is unchanged. From any other, thinking and end
 * tokens are removed. Then:
 *
 * <ol>
 *   <li>Without Markdown fences, all of it is the source.
 *   <li>Of several blocks, the last that has the entry counts (drafts come first), together with
 *       other blocks that bind names it uses and does not bind: kernel and wrapper in two blocks.
 *       Blocks that parse go before blocks that do not. Text outside fences that is Python counts
 *       as a block: some models leave the first fence out.
 *   <li>If no block has the entry, the longest is the source.
 * </ol>
 */
final class Answer {
  private static final Pattern THOUGHT =
      Pattern.compile("(?s)<(think|thinking|thought|reasoning)>.*?</\\1>");

  /** The opening tag may have been part of the prompt. */
  private static final Pattern END_OF_THOUGHT =
      Pattern.compile("(?s)\\A.*</(?:think|thinking|thought|reasoning)>");

  private static final Pattern START_OF_THOUGHT =
      Pattern.compile("\\A\\s*<(?:think|thinking|thought|reasoning)>");

  private static final Pattern START_TOKEN =
      Pattern.compile("\\A\\s*(?:<s>|<\\|(?:im_start|begin_of_text)\\|>)(?:assistant\\n)?");

  /** Text after an end token is not part of the answer. */
  private static final Pattern END_TOKEN =
      Pattern.compile(
          "(?s)(?:<[|｜](?:im_end|EOT|eot_id|endoftext|end_of_text|end|eom_id"
              + "|end▁of▁sentence)[|｜]>|<end_of_turn>|</s>(?=\\s*\\z)).*");

  private static final Pattern BLANK_LINES = Pattern.compile("\\A(?:[ \\t]*\\R)+");

  private static final Pattern FENCE = Pattern.compile("([ \\t]*)(`{3,}|~{3,})[ \\t]*([^`\\n]*)");

  /**
   * @param fenced inside a fence
   */
  private record Block(String code, boolean fenced, PythonSource source) {
    static Block of(String code, boolean fenced) {
      return new Block(code, fenced, PythonSource.parse(code));
    }
  }

  private Answer() {}

  /** The source for {@code task}; empty if the answer holds nothing. */
  static Source.Text text(String answer, Task task) {
    if (answer.isBlank()) return new Source.Text(answer);
    PythonSource whole = PythonSource.parse(answer);
    return isWhole(whole, task) ? new Source.Text(answer, whole) : within(answer, task);
  }

  private static Source.Text within(String answer, Task task) {
    String text = END_OF_THOUGHT.matcher(THOUGHT.matcher(answer).replaceAll("")).replaceFirst("");
    text = START_OF_THOUGHT.matcher(text).replaceFirst("");
    text = START_TOKEN.matcher(text).replaceFirst("");
    text = END_TOKEN.matcher(text).replaceFirst("");
    text = BLANK_LINES.matcher(text).replaceFirst("");
    List<Block> blocks = blocks(text);
    if (blocks.stream().noneMatch(Block::fenced)) return new Source.Text(text);
    Block main = main(blocks, task);
    return main == null ? new Source.Text(longest(blocks)) : withNeeded(main, blocks);
  }

  private static boolean isWhole(PythonSource source, Task task) {
    return source.understood() && hasEntry(source, task);
  }

  private static boolean hasEntry(PythonSource source, Task task) {
    return task.entries().stream().anyMatch(source.names()::contains);
  }

  private static @Nullable Block main(List<Block> blocks, Task task) {
    for (Block block : blocks.reversed()) if (isWhole(block.source, task)) return block;
    for (Block block : blocks.reversed()) if (hasEntry(block.source, task)) return block;
    return null;
  }

  private static String longest(List<Block> blocks) {
    String longest = "";
    for (Block block : blocks) {
      if (block.fenced && block.code.length() > longest.length()) longest = block.code;
    }
    return longest;
  }

  /**
   * The block with those that it needs: for each name the nearest one before it, else the first
   * after it.
   */
  private static Source.Text withNeeded(Block main, List<Block> blocks) {
    int at = blocks.indexOf(main);
    List<Integer> order = new ArrayList<>();
    for (int i = at - 1; i >= 0; i--) order.add(i);
    for (int i = at + 1; i < blocks.size(); i++) order.add(i);
    TreeSet<Integer> chosen = new TreeSet<>(Set.of(at));
    Set<String> bound = new HashSet<>(main.source.names());
    List<String> missing = new ArrayList<>(main.source.freeNames());
    while (!missing.isEmpty()) {
      String name = missing.removeLast();
      if (bound.contains(name)) continue;
      for (int i : order) {
        Block block = blocks.get(i);
        if (!block.source.understood() || !block.source.names().contains(name)) continue;
        chosen.add(i);
        bound.addAll(block.source.names());
        missing.addAll(block.source.freeNames());
        break;
      }
    }
    if (chosen.size() == 1) return new Source.Text(main.code, main.source);
    StringBuilder code = new StringBuilder();
    for (int i : chosen) {
      if (!code.isEmpty() && code.charAt(code.length() - 1) != '\n') code.append('\n');
      code.append(blocks.get(i).code);
    }
    return new Source.Text(code.toString());
  }

  private static List<Block> blocks(String text) {
    List<Block> blocks = new ArrayList<>();
    StringBuilder current = new StringBuilder();
    String fence = null;
    String indent = "";
    for (String line : text.split("(?<=\n)", -1)) {
      Matcher matcher = FENCE.matcher(line.stripTrailing());
      boolean isFence = matcher.matches();
      if (fence == null && isFence) {
        addProse(current, blocks);
        fence = matcher.group(2);
        indent = matcher.group(1);
      } else if (fence != null && isFence && closes(fence, matcher)) {
        blocks.add(Block.of(current.toString(), true));
        current.setLength(0);
        fence = null;
      } else {
        current.append(
            fence != null && line.startsWith(indent) ? line.substring(indent.length()) : line);
      }
    }
    if (fence == null) addProse(current, blocks);
    else blocks.add(Block.of(current.toString(), true));
    return blocks;
  }

  private static boolean closes(String fence, Matcher line) {
    return line.group(3).isBlank() && line.group(2).startsWith(fence);
  }

  private static void addProse(StringBuilder text, List<Block> blocks) {
    Block block = Block.of(text.toString(), false);
    text.setLength(0);
    if (block.source.understood() && block.source.hasCode()) blocks.add(block);
    else blocks.add(new Block("", false, PythonSource.parse("")));
  }
}
