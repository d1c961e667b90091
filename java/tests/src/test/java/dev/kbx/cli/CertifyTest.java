package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.app.Home;
import dev.kbx.certify.SigningKey;
import dev.kbx.error.InputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx certify}, as a user runs it; static checks need no Python. */
class CertifyTest {
  private static final String NOBODY = "ed25519:" + "0".repeat(32);

  @TempDir private Path folder;

  private static Kbx.Result ok(Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err() + result.out()).isZero();
    return result;
  }

  private static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.out()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.err().lines()).hasSize(1);
  }

  private Path out() {
    return folder.resolve("out");
  }

  private Path key() throws Exception {
    return Files.writeString(folder.resolve("key.pem"), SigningKey.generate());
  }

  /** Judges two kernels statically, and certifies the run. */
  private JsonNode certified(Object... more) throws Exception {
    Path kernels = Files.createDirectories(folder.resolve("kernels"));
    Files.copy(
        Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py"), kernels.resolve("tanh.py"));
    Files.writeString(kernels.resolve("gelu.py"), "def gelu(input): return 1\n");
    ok("eval", kernels, "--stages", "static", "--out", out());
    List<Object> words = new ArrayList<>(List.of("certify", "--out", out(), "--json"));
    words.addAll(List.of(more));
    return ok(words.toArray()).json();
  }

  @Test
  void aRunIsCertifiedCheckedAndReplayed() throws Exception {
    JsonNode made = certified("--key", key());
    String file = made.get("file").asString();
    assertThat(made.get("header").get("verdicts").asInt()).isEqualTo(2);
    assertThat(made.get("header").get("tasks")).hasSize(2);
    String signer = made.get("signer").asString();
    assertThat(ok("certify", "--check", file).out())
        .contains(
            "valid, by " + signer,
            "whose key that is",
            "sources: 2 of 2 compared",
            "the certificate holds");
    assertThat(ok("certify", "--check", file, "--signer", signer).out())
        .contains("valid, by " + signer)
        .doesNotContain("whose");
    Kbx.Result other = Kbx.here("certify", "--check", file, "--signer", NOBODY);
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.out()).contains("NOT by " + NOBODY, "DO NOT TRUST");
    assertThat(Kbx.here("certify", "--check", file, "--signer", NOBODY, "--replay", 1).out())
        .contains("DO NOT TRUST")
        .doesNotContain("replayed");
    JsonNode replay = ok("certify", "--check", file, "--replay", 2, "--json").json().get("replay");
    assertThat(replay.get("rows")).hasSize(2);
    for (JsonNode row : replay.get("rows")) assertThat(row.get("now")).isEqualTo(row.get("then"));
    assertThat(ok("certify", "--check", file, "--replay", 1).out())
        .contains("1 of 1 verdicts agree, 0 cannot be compared");
  }

  @Test
  void aForgedCertificateIsNotTrusted() throws Exception {
    Path file = Path.of(certified("--key", key()).get("file").asString());
    String text = Files.readString(file);
    Files.writeString(
        file, text.replace("\"status\":\"rejected_static\"", "\"status\":\"correct\""));
    Kbx.Result result = Kbx.here("certify", "--check", file, "--replay", 1);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.out())
        .contains("signature: NOT VALID", "something was changed", "DO NOT TRUST")
        .doesNotContain("replayed");
    assertThat(Kbx.here("certify", "--check", file, "--json").json().get("holds").asBoolean())
        .isFalse();
    Path other = Files.writeString(folder.resolve("other"), "no certificate\n");
    assertThat(Kbx.here("certify", "--check", other).err())
        .isEqualTo(
            "kbx: --check %s: is not a certificate of kbx; 'kbx certify' makes one\n"
                .formatted(other));
    String cut = text.lines().findFirst().orElseThrow();
    assertThat(Kbx.here("certify", "--check", Files.writeString(other, cut)).out())
        .contains("it has no signature", "DO NOT TRUST");
    assertThat(Kbx.here("certify", "--check", file, "--signer", "anna").err())
        .contains("--signer anna: a signer is named ed25519:");
  }

  @Test
  void certificateWithoutSourcesCannotBeReplayed() throws Exception {
    String file = certified("--key", key(), "--no-sources").get("file").asString();
    assertThat(Files.readString(Path.of(file))).doesNotContain("def gelu");
    assertThat(ok("certify", "--check", file, "--replay", 2).out())
        .contains(
            "sources: 0 of 2 compared",
            "0 of 0 verdicts agree, 2 cannot be compared",
            "has no source");
  }

  @Test
  void signingKeyIsReadableByItsOwnerOnly() throws Exception {
    String signer = Home.here().signingKey().signer();
    assertThat(Home.here().signingKey().signer()).isEqualTo(signer);
    Path file =
        Home.here().stateFolders().stream()
            .map(state -> state.resolve("signing-key.pem"))
            .filter(Files::exists)
            .findFirst()
            .orElseThrow();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    JsonNode made = certified();
    assertThat(made.get("signer").asString()).isEqualTo(signer);
    assertThat(ok("certify", "--check", made.get("file").asString()).out())
        .contains("this installation");
  }

  @Test
  void damagedSigningKeyIsNamedAndKept() throws Exception {
    Path file = folder.resolve("signing-key.pem");
    List<Path> folders = List.of(folder, folder.resolve("second"));
    String pem = SigningKey.generate();
    for (String damaged : List.of("", "no key", pem.substring(0, 60), pem.replace("MC4", "MC5"))) {
      Files.writeString(file, damaged);
      isDamaged(file, folders);
      assertThat(file).hasContent(damaged);
    }
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    isDamaged(file, folders);
    Files.writeString(file, pem);
    String signer = SigningKey.of(pem).signer();
    assertThat(Home.signingKey(folders).signer()).isEqualTo(signer);
    assertThat(Home.knownSigningKey(folders).orElseThrow().signer()).isEqualTo(signer);
  }

  private static void isDamaged(Path file, List<Path> folders) {
    assertThatThrownBy(() -> Home.signingKey(folders))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(file + ": is no Ed25519 private key", "delete it");
    assertThat(Home.knownSigningKey(folders)).isEmpty();
    assertThat(folders.getLast()).doesNotExist();
  }

  @Test
  void wrongArgumentsAreOneLineErrors() throws Exception {
    refused(
        Kbx.here("certify", "--out", out(), "--key", "nowhere"), "--key nowhere: does not exist");
    Path noKey = Files.writeString(folder.resolve("no.pem"), "-----BEGIN PRIVATE KEY-----");
    refused(Kbx.here("certify", "--out", out(), "--key", noKey), "is no Ed25519 private key");
    refused(Kbx.here("certify", "--out", out(), "--key", key()), "no runs there");
    refused(Kbx.here("certify", "--check", "nowhere"), "--check nowhere: does not exist");
    refused(Kbx.here("certify", "--replay", 2), "are for --check");
    refused(Kbx.here("certify", "--check", noKey, "--key", noKey), "needs neither");
    Path metrics =
        Files.writeString(
            folder.resolve("metrics.json"), "{\"Activation/gelu.py\": {\"call_ok\": false}}");
    ok("import", "kernelbenchx-results", metrics, "--out", out());
    refused(Kbx.here("certify", "--out", out(), "--key", key()), "is as published");
  }
}
