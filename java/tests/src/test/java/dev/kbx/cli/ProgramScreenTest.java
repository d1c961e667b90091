package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.app.Home;
import dev.kbx.verdict.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a program of {@code --method external} can reach: a real one that tries. */
class ProgramScreenTest {
  private static final String AGENT =
      """
      import glob, json, os, subprocess, sys

      def tried(what):
          try:
              return what()
          except Exception as error:
              return type(error).__name__

      def seen(pattern):
          return [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]

      def other_memory():
          mine = {str(os.getpid()), str(os.getppid())}
          others = [p for p in os.listdir("/proc") if p.isdigit() and p not in mine]
          return [open(f"/proc/{p}/environ").read() for p in others]

      found = {
          "secret": tried(lambda: open("STATE/secret").read()),
          "by_link": tried(lambda: open("/proc/1/root/STATE/secret").read()),
          "key": tried(lambda: open("STATE/signing-key.pem").read()),
          "unhidden": subprocess.run(["umount", "STATE"], capture_output=True).returncode,
          "nested": subprocess.run(["unshare", "-Urm", "sh", "-c", "umount STATE; cat STATE/secret"],
                                   capture_output=True, text=True).stdout,
          "results": seen("OUT/**"),
          "memory": tried(other_memory),
          "environment": {name: os.environ.get(name) for name in ("OPENAI_API_KEY", "MY_TOKEN", "MY_SETTING")},
          "own": tried(lambda: open(__file__).readline()),
          "network": sorted(os.listdir("/sys/class/net")),
          "python": tried(lambda: subprocess.run([sys.executable, "-c", ""]).returncode),
      }
      with open("REPORT", "w") as report:
          json.dump(found, report)
      for line in sys.stdin:
          if json.loads(line) == {"event": "next"}:
              print(json.dumps({"done": {}}), flush=True)
      """;

  @TempDir private Path folder;

  @Test
  void programCannotReachSecretsResultsAndKeys() throws Exception {
    Home.here().secret();
    Home.here().signingKey();
    Path state = Home.here().stateFolders().getFirst();
    Path out = folder.resolve("out");
    Path report = folder.resolve("report.json");
    Path agent =
        Files.writeString(
            folder.resolve("agent.py"),
            AGENT
                .replace("STATE", state.toString())
                .replace("OUT", out.toString())
                .replace("REPORT", report.toString()));
    Kbx.Result result =
        Kbx.run(
            Kbx.home(),
            Map.of("OPENAI_API_KEY", "sk-secret", "MY_TOKEN", "asked", "MY_SETTING", "plain"),
            "generate",
            "--method",
            "external",
            "--program",
            "python3 " + agent,
            "--program-env",
            "MY_TOKEN",
            "--tasks",
            "Activation/tanh",
            "--device",
            "cpu",
            "--jobs",
            1,
            "--out",
            out);
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).doesNotContain("refuses namespaces");
    JsonNode found = Json.mapper().readTree(Files.readString(report));
    for (String file : List.of("secret", "by_link", "key")) {
      assertThat(found.get(file).asString()).as(file).endsWith("Error");
    }
    assertThat(found.get("unhidden").asInt()).isNotZero();
    assertThat(found.get("nested").asString()).isEmpty();
    assertThat(found.get("results")).isEmpty();
    assertThat(found.get("memory").toString()).doesNotContain("sk-secret");
    JsonNode environment = found.get("environment");
    assertThat(environment.get("OPENAI_API_KEY").isNull()).isTrue();
    assertThat(environment.get("MY_TOKEN").asString()).isEqualTo("asked");
    assertThat(environment.get("MY_SETTING").asString()).isEqualTo("plain");
    // What it needs is there.
    assertThat(found.get("own").asString()).startsWith("import glob");
    assertThat(found.get("network")).isNotEmpty();
    assertThat(found.get("python").asInt()).isZero();
    assertThat(out.resolve("runs")).isNotEmptyDirectory();
  }

  @Test
  void unsetVariableIsNamed() {
    Kbx.Result result =
        Kbx.here(
            "generate",
            "--method",
            "external",
            "--program",
            "cat",
            "--program-env",
            "NO_SUCH_KEY",
            "--tasks",
            "tanh",
            "--out",
            folder.resolve("none"));
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .isEqualTo("kbx: --program-env NO_SUCH_KEY: is not set; export it, or leave it out\n");
  }
}
