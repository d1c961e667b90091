package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tokens as the command makes and lists them. */
class TokensTest {
  @TempDir private Path folder;

  private Kbx.Result tokens(Object... arguments) {
    Object[] all = new Object[arguments.length + 3];
    all[0] = "tokens";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--out";
    all[arguments.length + 2] = folder;
    return Kbx.here(all);
  }

  private Duration left(JsonNode row) {
    return Duration.between(Instant.now(), Instant.parse(row.path("expires").asString()));
  }

  @Test
  void tokenExpiresAsGivenOrAfterAYear() {
    Kbx.Result made = tokens("create", "alice", "--expires", "90d");
    assertThat(made.out()).startsWith("kbx_");
    assertThat(made.err()).contains("kbx: it expires at 2");
    tokens("create", "bob");
    assertThat(tokens("create", "carol", "--expires", "never").err()).doesNotContain("expires");
    JsonNode rows = tokens("list", "--json").json();
    assertThat(left(rows.get(0))).isBetween(Duration.ofDays(89), Duration.ofDays(90));
    assertThat(left(rows.get(1))).isBetween(Duration.ofDays(364), Duration.ofDays(365));
    assertThat(rows.get(2).has("expires")).isFalse();
    assertThat(tokens("list").out().lines())
        .satisfiesExactly(
            alice -> assertThat(alice).startsWith("alice").contains("  expires 2"),
            bob -> assertThat(bob).contains("  expires 2"),
            carol -> assertThat(carol).doesNotContain("expires"));
  }

  @Test
  void aTimeThatCannotBeUsedIsRefused() {
    for (String time : new String[] {"90", "0d", "-1d", "1y", "soon"}) {
      Kbx.Result refused = tokens("create", "alice", "--expires=" + time);
      assertThat(refused.exit()).isEqualTo(1);
      assertThat(refused.err()).contains("'%s': give hours, days or weeks".formatted(time));
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aRevokedTokenIsReplacedUnderItsName() {
    String first = tokens("create", "alice").out();
    Kbx.Result twice = tokens("create", "alice");
    assertThat(twice.exit()).isEqualTo(1);
    assertThat(twice.err())
        .isEqualTo("kbx: there is a valid token 'alice': revoke it first, or give another name\n");
    assertThat(tokens("revoke", "alice").exit()).isZero();
    assertThat(tokens("list").out()).contains("revoked 2");
    assertThat(tokens("create", "alice").out()).startsWith("kbx_").isNotEqualTo(first);
    assertThat(tokens("list").out()).doesNotContain("revoked");
  }

  @Test
  void readingTokensCreatesNoStore() {
    for (Object[] command : new Object[][] {{"list"}, {"revoke", "alice"}}) {
      Kbx.Result refused = tokens(command);
      assertThat(refused.exit()).isEqualTo(1);
      assertThat(refused.err()).contains("no runs").hasLineCount(1);
    }
    assertThat(folder).isEmptyDirectory();
  }
}
