package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of source in a reply, in order: fenced ones of any tag, and text between them that is
 * Python, since some models leave the first fence out.
 */
final class Blocks {
  private static final Pattern FENCE =
      Pattern.compile("\ufeff?([ \\t]*+)(`{3,}+|~{3,}+)[ \\t]*+([^`\\n]*+)");

  private final List<Block> blocks;

  /** What a block's text lies in. */
  private enum Fence {
    CLOSED,
    UNCLOSED,
    NONE
  }

  private record Block(String code, Fence fence, PythonSource source) {
    static Block of(String text, Fence fence) {
      String code = ByteOrderMark.without(text);
      return new Block(code, fence, PythonSource.parse(code));
    }

    Chosen chosen() {
      String rule =
          switch (fence) {
            case CLOSED -> Extraction.FENCE;
            case UNCLOSED -> "unclosed fence";
            case NONE -> Extraction.PROSE;
          };
      return new Chosen(new Source.Text(code, source), rule);
    }
  }

  /** A block, or several joined, with the name of the rule. */
  record Chosen(Source.Text source, String rule) {}

  private Blocks(List<Block> blocks) {
    this.blocks = blocks;
  }

  /** The blocks of Markdown text; none if it has no fence. */
  static Blocks ofMarkdown(String text) {
    boolean fenced = text.lines().anyMatch(line -> FENCE.matcher(line.stripTrailing()).matches());
    return new Blocks(fenced ? new Reader().read(text) : List.of());
  }

  /** Texts without fences. */
  static Blocks of(List<String> texts) {
    return new Blocks(texts.stream().map(text -> Block.of(text, Fence.NONE)).toList());
  }

  /** Whether the text has no fence. */
  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /**
   * The last block with the task's entry (drafts come first), with those that it needs: kernel and
   * wrapper may be two blocks. A block that parses goes before one that does not.
   */
  Optional<Chosen> withEntry(Task task) {
    Block broken = null;
    for (Block block : blocks.reversed()) {
      if (!Extraction.hasEntry(block.source, task)) continue;
      if (block.source.understood()) return Optional.of(withNeeded(block));
      if (broken == null) broken = block;
    }
    return Optional.ofNullable(broken).map(this::withNeeded);
  }

  /** The longest fenced block; the first of equally long ones. */
  Chosen longest() {
    Block longest = Block.of("", Fence.CLOSED);
    for (Block block : blocks) {
      if (block.fence != Fence.NONE && block.code.length() > longest.code.length()) longest = block;
    }
    return longest.chosen();
  }

  /** The fenced blocks that are not Python source: they may hold wrappers or prose. */
  List<Wrapped> foreign() {
    return blocks.stream()
        .filter(block -> block.fence != Fence.NONE)
        .filter(block -> !block.source.understood() || !block.source.hasCode())
        .map(block -> new Wrapped(Extraction.FENCE, 0, 0, block.code))
        .toList();
  }

  /**
   * The block with those that bind names it uses and does not bind: for each name the nearest one
   * before it, else the first after it.
   */
  private Chosen withNeeded(Block main) {
    int at = blocks.indexOf(main);
    Map<String, NavigableSet<Integer>> binding = binding();
    SortedSet<Integer> chosen = new TreeSet<>(Set.of(at));
    Set<String> bound = new HashSet<>(main.source.names());
    List<String> missing = new ArrayList<>(main.source.freeNames());
    while (!missing.isEmpty()) {
      String name = missing.removeLast();
      Integer needed = bound.contains(name) ? null : nearest(binding.get(name), at);
      if (needed == null || !chosen.add(needed)) continue;
      bound.addAll(blocks.get(needed).source.names());
      missing.addAll(blocks.get(needed).source.freeNames());
    }
    return chosen.size() == 1 ? main.chosen() : joined(chosen);
  }

  /** The blocks that bind a name, of those that parse. */
  private Map<String, NavigableSet<Integer>> binding() {
    Map<String, NavigableSet<Integer>> binding = new HashMap<>();
    for (int i = 0; i < blocks.size(); i++) {
      PythonSource source = blocks.get(i).source;
      if (!source.understood()) continue;
      for (String name : source.names()) binding.computeIfAbsent(name, _ -> new TreeSet<>()).add(i);
    }
    return binding;
  }

  private static @Nullable Integer nearest(@Nullable NavigableSet<Integer> places, int at) {
    if (places == null) return null;
    Integer before = places.lower(at);
    return before == null ? places.higher(at) : before;
  }

  private Chosen joined(SortedSet<Integer> chosen) {
    StringBuilder code = new StringBuilder();
    for (int i : chosen) {
      if (!code.isEmpty() && code.charAt(code.length() - 1) != '\n') code.append('\n');
      code.append(blocks.get(i).code);
    }
    return new Chosen(
        new Source.Text(code.toString(), PythonSource.parse(code.toString())), "fences joined");
  }

  /** Splits Markdown into blocks. */
  private static final class Reader {
    private final List<Block> blocks = new ArrayList<>();
    private final StringBuilder current = new StringBuilder();
    private @Nullable String fence;
    private String indent = "";

    List<Block> read(String text) {
      for (String line : text.split("(?<=\n)", -1)) line(line);
      if (fence == null) addProse();
      else add(Fence.UNCLOSED);
      return blocks;
    }

    private void line(String line) {
      Matcher matcher = FENCE.matcher(line.stripTrailing());
      boolean isFence = matcher.matches();
      if (fence == null && isFence) {
        addProse();
        fence = matcher.group(2);
        indent = matcher.group(1);
      } else if (fence != null && isFence && closes(fence, matcher)) {
        add(Fence.CLOSED);
        fence = null;
      } else {
        boolean indented = fence != null && line.startsWith(indent);
        current.append(indented ? line.substring(indent.length()) : line);
      }
    }

    private static boolean closes(String fence, Matcher line) {
      return line.group(3).isBlank() && line.group(2).startsWith(fence);
    }

    private void add(Fence how) {
      blocks.add(Block.of(current.toString(), how));
      current.setLength(0);
    }

    private void addProse() {
      Block block = Block.of(current.toString(), Fence.NONE);
      current.setLength(0);
      if (block.source.understood() && block.source.hasCode()) blocks.add(block);
    }
  }
}
