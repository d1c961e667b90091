package dev.kbx.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.syntax.PythonSource;
import java.util.Set;
import java.util.TreeSet;

/** Programs for tests, and what they do in words. */
final class Programs {
  private Programs() {}

  static Program of(String code) {
    return Program.of(PythonSource.parse(code));
  }

  /** Paths of calls; accesses as {@code READ path}; {@code readable} where it is. */
  static Set<String> facts(Program program) {
    Set<String> facts = new TreeSet<>();
    program.calls().forEach(call -> facts.addAll(call.targets()));
    program.accesses().forEach(access -> facts.add(access.kind() + " " + access.path()));
    facts.add(program.readable() ? "readable" : "unreadable");
    return facts;
  }

  /** Checks {@code code => fact, fact, !what is none}. */
  static void check(String example) {
    String[] parts = example.split(" => ", 2);
    Set<String> facts = facts(of(parts[0]));
    for (String fact : parts[1].split(", ", -1)) {
      if (fact.startsWith("!")) assertThat(facts).doesNotContain(fact.substring(1));
      else assertThat(facts).contains(fact);
    }
  }
}
