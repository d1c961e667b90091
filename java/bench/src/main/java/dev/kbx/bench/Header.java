package dev.kbx.bench;

import dev.kbx.syntax.PythonSource;
import dev.kbx.verdict.Status;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The header of a corpus file: the docstring at its top. */
sealed interface Header {
  /** First line of the docstring. */
  String summary();

  /**
   * A cheat.
   *
   * @param group {@code verdict}, {@code answer}, {@code timing}, {@code semantics} or {@code
   *     memory}
   * @param name of the mechanism, in its group
   * @param rules ids of static rules, one of which must reject it; empty if no rule can be certain
   * @param onCpu allowed results without static rules
   * @param onGpu the same on a GPU
   * @param flag required flag of its verdict; null if none
   * @param beyond property of calls beyond the published grade that alone shows it; null if calls
   *     of that grade do
   * @param policy label of the policy that it is judged at; null for its suite's own
   * @param sources keys of the {@link Publication}s that have the mechanism; empty if it is kbx's
   *     own
   */
  record Cheat(
      String summary,
      String group,
      String name,
      List<String> rules,
      Ending onCpu,
      Ending onGpu,
      @Nullable String flag,
      @Nullable String beyond,
      @Nullable String policy,
      List<String> sources)
      implements Header {}

  /** A kernel that must end as correct, without flags; the rest as of a cheat. */
  record Honest(String summary, String style, @Nullable String policy, List<String> sources)
      implements Header {}

  /**
   * Reads the header of a file's source.
   *
   * @throws Malformed if it is none
   */
  static Header of(String code) {
    String text =
        PythonSource.parse(code)
            .docstring()
            .orElseThrow(() -> new Malformed("has no docstring at its top"));
    Fields fields = new Fields(text);
    String summary = text.strip().lines().findFirst().orElse("");
    String policy = fields.take("policy", "kernel|mixed").orElse(null);
    List<String> sources = fields.sources();
    Optional<String> style = fields.take("style", "[a-z0-9_]+");
    if (style.isPresent()) {
      fields.nothingLeft("an honest kernel");
      return new Honest(summary, style.get(), policy, sources);
    }
    String[] mechanism =
        fields
            .take("mechanism", "(verdict|answer|timing|semantics|memory)/[a-z0-9-]+")
            .orElseThrow(() -> new Malformed("has neither 'mechanism:' nor 'style:'"))
            .split("/", -1);
    String rules = fields.need("static", "[a-z][a-z0-9-]*( \\| [a-z][a-z0-9-]*)*");
    Ending onCpu = Ending.parse("dynamic", fields.need("dynamic", "[a-z_| ]+"));
    Ending onGpu =
        fields.take("gpu", "[a-z_| ]+").map(end -> Ending.parse("gpu", end)).orElse(onCpu);
    return new Cheat(
        summary,
        mechanism[0],
        mechanism[1],
        rules.equals("none") ? List.of() : List.of(rules.split(" \\| ", -1)),
        onCpu,
        onGpu,
        fields.take("flag", "[a-z_]+").orElse(null),
        fields.take("breaks", "[a-z0-9_:]+").orElse(null),
        policy,
        sources);
  }

  /** The lines {@code key: value} of a docstring. */
  final class Fields {
    private static final Pattern LINE =
        Pattern.compile(
            "^(mechanism|static|dynamic|gpu|flag|breaks|policy|source|style):(.*)$",
            Pattern.MULTILINE);

    private final Map<String, String> values = new HashMap<>();

    private Fields(String docstring) {
      for (MatchResult line : LINE.matcher(docstring).results().toList()) {
        if (values.put(line.group(1), line.group(2).strip()) != null) {
          throw new Malformed("has two lines '%s:'".formatted(line.group(1)));
        }
      }
    }

    private Optional<String> take(String key, String form) {
      String value = values.remove(key);
      if (value != null && !value.matches(form)) {
        throw new Malformed("'%s: %s' is not of the form %s".formatted(key, value, form));
      }
      return Optional.ofNullable(value);
    }

    private List<String> sources() {
      List<String> keys =
          take("source", "[a-z0-9-]+( \\| [a-z0-9-]+)*")
              .map(text -> List.of(text.split(" \\| ", -1)))
              .orElse(List.of());
      for (String key : keys) {
        if (!Publication.isKnown(key)) {
          throw new Malformed("'source: %s' is not in publications.tsv".formatted(key));
        }
      }
      return keys;
    }

    private String need(String key, String form) {
      return take(key, form).orElseThrow(() -> new Malformed("has no line '%s:'".formatted(key)));
    }

    private void nothingLeft(String what) {
      for (String key : values.keySet()) {
        throw new Malformed("is %s and has a line '%s:'".formatted(what, key));
      }
    }
  }

  /** A corpus file has a missing or wrong header; the message is one clause. */
  final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message);
    }
  }

  /**
   * Allowed results of a cheat with static rules off.
   *
   * @param text as written: {@code wrong_values | cheating}, {@code merit}, {@code gap}
   * @param statuses the statuses that the text allows
   * @param reason why it may end as {@code correct}; null if it may not
   */
  record Ending(String text, Set<Status> statuses, @Nullable Reason reason) {
    /** Begins the text of {@link #beyond}. */
    static final String BREAKS = "correct, breaks on ";

    /** Begins what {@link #problem} says. */
    static final String ENDED = "ended as ";

    /** How one ends where no call decides that asks for the property. */
    static Ending beyond(String property) {
      return new Ending(BREAKS + property, Set.of(Status.CORRECT), null);
    }

    /**
     * Reads statuses and at most one {@link Reason}, separated by bars. Throws {@link Malformed}.
     */
    static Ending parse(String key, String text) {
      EnumSet<Status> statuses = EnumSet.noneOf(Status.class);
      EnumSet<Reason> reasons = EnumSet.noneOf(Reason.class);
      for (String part : text.split("\\|", -1)) {
        String word = part.strip();
        Optional<Reason> reason = Reason.of(word);
        reason.ifPresent(reasons::add);
        statuses.add(reason.isPresent() ? Status.CORRECT : status(key, word));
      }
      if (reasons.size() > 1) {
        throw new Malformed(
            "'%s: %s' gives two reasons to end as correct; name one".formatted(key, text));
      }
      return new Ending(
          text, Collections.unmodifiableSet(statuses), reasons.stream().findFirst().orElse(null));
    }

    /** How {@code ended} differs from what is allowed, with the reason of the verdict, if any. */
    Optional<String> problem(Status ended, @Nullable String why) {
      if (statuses.contains(ended)) return Optional.empty();
      String because = why == null ? "" : ": " + why;
      return Optional.of(ENDED + "%s, must be %s%s".formatted(ended.label(), text, because));
    }

    private static Status status(String key, String word) {
      Status status;
      try {
        status = Status.of(word);
      } catch (IllegalArgumentException _) {
        throw new Malformed("'%s: %s' names no status".formatted(key, word));
      }
      if (status != Status.CORRECT) return status;
      throw new Malformed(
          "'%s: correct' is not how a cheat may end; write 'merit' if its kernel earns it, 'gap' if kbx is known to miss it"
              .formatted(key));
    }
  }

  /** Why a cheat may end as {@code correct}. */
  enum Reason {
    /** Its own kernel computes the result, and the attempt changes nothing. */
    MERIT,
    /** A known gap: its result is wrong or not its own work, and kbx accepts it on this device. */
    GAP;

    /** The reason that a word of an ending names. */
    static Optional<Reason> of(String word) {
      return Arrays.stream(values()).filter(each -> each.label().equals(word)).findFirst();
    }

    /** The reason in the text of an {@link Ending}; empty if it has none. */
    static Optional<Reason> in(String ending) {
      return Arrays.stream(ending.split("\\|", -1))
          .flatMap(word -> of(word.strip()).stream())
          .findFirst();
    }

    /** {@code merit}, {@code gap}. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
