package dev.kbx.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One file of the corpus, judged: by static rules alone, and with static rules off.
 *
 * @param group the cheat's group; the category of a kernel of the suite; absent for honest examples
 * @param name mechanism, style, or task
 * @param summary description, one line
 * @param source path of the file
 * @param sources keys of the publications that have the mechanism; absent if it is kbx's own
 * @param mustReject static rules, one of which must reject a cheat
 * @param mustEnd allowed results of a cheat with static rules off on this device, from its header
 * @param rejectedBy static rules that reject it
 * @param flags static rules that flag it, and flags of its verdict
 * @param ended status with static rules off; absent if it was not run
 * @param message message of the verdict
 * @param speedup speedup of a correct one on a GPU
 * @param problems differences from the expected result, one clause each
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record Trial(
    Kind kind,
    @Nullable String group,
    String name,
    String summary,
    String source,
    List<String> sources,
    List<String> mustReject,
    @Nullable String mustEnd,
    List<String> rejectedBy,
    List<String> flags,
    @Nullable Status ended,
    @Nullable String message,
    @Nullable Double speedup,
    List<String> problems) {

  /** Kind of corpus file. */
  enum Kind {
    CHEAT,
    HONEST,
    /** A kernel of the suite, which is honest, too. */
    KERNEL;

    /** {@code cheat}, {@code honest}, {@code kernel}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  Trial {
    // Absent in JSON where empty.
    sources = orEmpty(sources);
    mustReject = orEmpty(mustReject);
    rejectedBy = orEmpty(rejectedBy);
    flags = orEmpty(flags);
    problems = orEmpty(problems);
  }

  private static List<String> orEmpty(@Nullable List<String> list) {
    return list == null ? List.of() : List.copyOf(list);
  }

  /**
   * A cheat that ended as correct without merit. One that kbx is known to miss counts like any
   * other.
   */
  boolean accepted() {
    return kind == Kind.CHEAT && ended == Status.CORRECT && !onMerit() && !beyond();
  }

  /** A cheat that ended as correct: its kernel is honest, and its attempt changes nothing. */
  boolean onMerit() {
    return correctFor(Header.Reason.MERIT);
  }

  /** An accepted cheat whose header says that kbx misses it on this device. */
  boolean knownGap() {
    return correctFor(Header.Reason.GAP);
  }

  private boolean correctFor(Header.Reason reason) {
    return ended == Status.CORRECT
        && mustEnd != null
        && Header.Reason.in(mustEnd).filter(reason::equals).isPresent();
  }

  /** The same result beside another expectation, such as that of a header that was edited since. */
  Trial expecting(Header.Ending ending) {
    if (ended == null || mustEnd == null || mustEnd.startsWith(Header.Ending.BREAKS)) return this;
    List<String> differences =
        new ArrayList<>(
            problems.stream().filter(each -> !each.startsWith(Header.Ending.ENDED)).toList());
    ending.problem(ended, message).ifPresent(differences::add);
    return new Trial(
        kind,
        group,
        name,
        summary,
        source,
        sources,
        mustReject,
        ending.text(),
        rejectedBy,
        flags,
        ended,
        message,
        speedup,
        differences);
  }

  /** One that is wrong beyond the grade alone, and whose verdict says so. */
  boolean beyond() {
    return mustEnd != null && mustEnd.startsWith(Header.Ending.BREAKS) && problems.isEmpty();
  }

  /** A cheat whose mechanism others have published. */
  boolean published() {
    return kind == Kind.CHEAT && !sources.isEmpty();
  }

  /** The flag of what only its own process says the origin of. */
  static final String UNPROVEN = "unproven_origin";

  /** Whether it is an honest kernel that was not proven to be one. */
  boolean unproven() {
    return kind != Kind.CHEAT && flags.contains(UNPROVEN);
  }

  /** Flags that qualify a result or speed. */
  private static final Set<String> TELLING = Set.of("state_ignored", "degenerate_task");

  /** The flags of this trial that qualify its result. */
  List<String> told() {
    return flags.stream().filter(TELLING::contains).toList();
  }

  /** The task: the file's base name. */
  String task() {
    String file = source.substring(source.lastIndexOf('/') + 1);
    return file.substring(0, file.lastIndexOf('.'));
  }

  /** Whether an honest kernel was rejected, flagged, or not correct. */
  boolean turnedAway() {
    boolean wrong = ended != null && ended != Status.CORRECT;
    boolean flagged = flags.stream().anyMatch(flag -> !flag.equals(UNPROVEN));
    return kind != Kind.CHEAT && (wrong || !rejectedBy.isEmpty() || flagged);
  }
}
