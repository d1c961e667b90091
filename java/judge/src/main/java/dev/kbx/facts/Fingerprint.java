package dev.kbx.facts;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Similarity of sources, independent of names, numbers, strings, comments and layout.
 *
 * <p>Winnowing after Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document
 * fingerprinting" (SIGMOD 2003), over tokens: of every {@link #WINDOW} consecutive hashes of {@link
 * #GRAM} tokens the smallest is a mark, so that any {@code GRAM + WINDOW - 1} equal tokens have a
 * common mark.
 *
 * @param exact SHA-256 of the normalised tokens, in hexadecimal digits: equal for copies
 * @param marks chosen hashes
 */
record Fingerprint(String exact, Set<Long> marks) {
  /** Tokens of a hash. With fewer, all kernels are similar, as they share a frame. */
  public static final int GRAM = 12;

  /** Hashes of a window. */
  public static final int WINDOW = 8;

  public Fingerprint {
    marks = Collections.unmodifiableSet(new TreeSet<>(marks));
  }

  static Fingerprint of(PythonSource source) {
    List<String> tokens = source.tree().map(root -> tokens(root, source)).orElse(List.of());
    return new Fingerprint(digest(tokens), winnow(hashes(tokens)));
  }

  /** Common marks over all marks of both (Jaccard index), from 0 to 1; 1 for equal sources. */
  double similarity(Fingerprint other) {
    if (exact.equals(other.exact)) return 1;
    Set<Long> both = new HashSet<>(marks);
    both.retainAll(other.marks);
    int either = marks.size() + other.marks.size() - both.size();
    return either == 0 ? 0 : (double) both.size() / either;
  }

  /** Tokens in order: names, numbers and strings by kind, attributes and keywords as written. */
  private static List<String> tokens(Node root, PythonSource source) {
    Set<Node> attributes = new HashSet<>();
    Set<Node> docstrings = new HashSet<>();
    for (Node node : root.all()) {
      Node attribute = node.child("attribute");
      if (node.is("attribute") && attribute != null) attributes.add(attribute);
      boolean single = node.is("expression_statement") && node.children().size() == 1;
      if (single) docstrings.add(node.children().getFirst());
    }
    List<String> tokens = new ArrayList<>();
    for (Node token : root.tokens()) {
      switch (token.kind()) {
        case "identifier" -> tokens.add(attributes.contains(token) ? source.text(token) : "name");
        case "integer", "float" -> tokens.add("0");
        case "string" -> {
          if (!docstrings.contains(token)) tokens.add("''");
        }
        default -> tokens.add(token.kind());
      }
    }
    return tokens;
  }

  private static String digest(List<String> tokens) {
    return DigestUtils.sha256Hex(String.join("\n", tokens));
  }

  private static List<Long> hashes(List<String> tokens) {
    List<Long> hashes = new ArrayList<>();
    for (int i = 0; i + GRAM <= tokens.size(); i++) {
      long hash = 1;
      for (String token : tokens.subList(i, i + GRAM)) hash = mixed(hash * 31 + token.hashCode());
      hashes.add(hash);
    }
    return hashes;
  }

  /** Mixes bits, so that each of several hashes is equally likely to be the smallest. */
  private static long mixed(long hash) {
    long spread = (hash ^ (hash >>> 32)) * 0x9e3779b97f4a7c15L;
    return spread ^ (spread >>> 29);
  }

  private static Set<Long> winnow(List<Long> hashes) {
    Set<Long> marks = new HashSet<>();
    for (int i = 0; i < Math.max(1, hashes.size() - WINDOW + 1); i++) {
      hashes.subList(i, Math.min(hashes.size(), i + WINDOW)).stream()
          .min(Long::compare)
          .ifPresent(marks::add);
    }
    return marks;
  }
}
