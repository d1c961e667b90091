package dev.kbx.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.SimulatedRun;
import dev.kbx.app.Home;
import dev.kbx.app.Ledgers;
import dev.kbx.app.RunResults;
import dev.kbx.candidate.Candidate;
import dev.kbx.files.Folders;
import dev.kbx.generate.Ledger;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.report.ResultFiles;
import dev.kbx.server.KbxServer;
import dev.kbx.server.Listening;
import dev.kbx.server.Machine;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * Outputs of six kept runs in every medium, compared with the files under {@code
 * java/tests/src/test/resources/golden}: the diff of a commit shows what it changes for readers.
 *
 * <p>{@code -Dkbx.golden=write} writes the files anew.
 */
class GoldenOutputsTest {
  /** The results folder. It is relative because outputs print paths in it. */
  private static final Path OUT = Path.of("target", "golden");

  private static final List<String> ANALYSES =
      List.of(
          "budget",
          "deviance",
          "efficiency",
          "errors",
          "fastp",
          "iterations",
          "methods",
          "passk",
          "portability",
          "quality",
          "summary",
          "turns");

  private static final String COLUMNS = "kbx.columns";

  private final GoldenFiles golden = new GoldenFiles();

  @AfterAll
  static void forgetWidth() {
    System.clearProperty(COLUMNS);
  }

  @Test
  void outputsEqualTheGoldenFiles() throws Exception {
    Folders.delete(OUT);
    Files.createDirectories(OUT);
    List<GoldenRun> runs = GoldenRun.all();
    GoldenRun gpu = runs.getLast();
    GoldenRun faster = gpu.again("20261121T063507-fast", gpu.info().device(), 1.25);
    GoldenRun other = gpu.again("20261121T063508-a100", SimulatedRun.A100, 0.7);
    try (RunStore store = RunStore.open(StoreAddress.of(OUT.resolve("kbx.db")))) {
      for (GoldenRun run : runs) run.store(store, OUT);
      faster.store(store, OUT);
      other.store(store, OUT);
      for (GoldenRun run : runs) evaluated(store, run);
    }
    for (GoldenRun run : runs) printed(run);
    compared("models", runs.get(1), runs.get(2));
    compared("speeds", gpu, faster);
    onDevices(gpu.id(), other.id());
    command("compare/runs.txt", "runs", "list");
    served(runs, "/compare?a=" + gpu.id() + "&b=" + faster.id());
    golden.check();
  }

  /** The end of {@code kbx eval} and {@code kbx run}: the run's files and the table. */
  private void evaluated(RunStore store, GoldenRun run) throws IOException {
    Path folder = OUT.resolve("runs").resolve(run.id());
    Path ledger = folder.resolve(Ledger.NAME);
    boolean methods = Files.exists(ledger);
    try (ResultFiles files = new ResultFiles(folder)) {
      files.rewrite(line -> store.forEach(run.id(), each -> line.accept(each.json())));
      RunResults results =
          RunResults.finish(
              store,
              run.info(),
              files,
              Home.here().selected(run.info()),
              List.of(),
              methods ? ledger : null);
      for (int columns : List.of(80, 120)) {
        System.setProperty(COLUMNS, Integer.toString(columns));
        var text = new ByteArrayOutputStream();
        EvalOutput output = new EvalOutput(new PrintStream(text, true, UTF_8), false);
        if (methods) {
          output.printMethods(results, OUT, Ledgers.rows(ledger, results.verdicts().rows()));
        } else {
          output.print(results, List.of(), OUT);
        }
        golden.add(run.name() + "/table-%d.txt".formatted(columns), text.toString(UTF_8));
      }
    }
    golden.addFolder(run.name() + "/results", folder, "{results.jsonl,metrics*,summary*,eval*}");
  }

  private void printed(GoldenRun run) throws IOException {
    System.setProperty(COLUMNS, "100");
    String id = run.id();
    for (String analysis : ANALYSES) {
      command(run.name() + "/analyze-" + analysis + ".txt", "analyze", analysis, id);
    }
    command(run.name() + "/report.md", "report", id, "--format", "md");
    kernel(run, "failed", verdict -> verdict.judgement().status() != Status.CORRECT);
    kernel(run, "timed", verdict -> verdict.judgement().sizes() != null);
    command(run.name() + "/report.json", "report", id, "--format", "json");
    for (String format : List.of("latex", "csv")) {
      Path folder = OUT.resolve(run.name() + "-" + format);
      command("", "report", id, "--format", format, "--output", folder);
      golden.addFolder(run.name() + "/" + format, folder, "**");
    }
    Path page = OUT.resolve(run.name() + ".html");
    command("", "report", id, "--output", page);
    golden.add(run.name() + "/report.html", Files.readString(page));
  }

  /** The first candidate that is so, as a reviewer has it; nothing without one. */
  private void kernel(GoldenRun run, String name, Predicate<Verdict> wanted) {
    Verdict first = run.verdicts().stream().filter(wanted).findFirst().orElse(null);
    if (first == null) return;
    String hash = first.provenance().candidate();
    for (String format : List.of("md", "text")) {
      String file =
          "%s/kernel-%s.%s".formatted(run.name(), name, format.equals("md") ? format : "txt");
      command(file, "report", run.id(), "--candidate", hash, "--format", format);
    }
  }

  private void compared(String name, GoldenRun before, GoldenRun after) throws IOException {
    Path page = OUT.resolve("compare-" + name + ".html");
    command("compare/" + name + ".txt", "compare", before.id(), after.id(), "--output", page);
    command("compare/" + name + ".json", "compare", before.id(), after.id(), "--json");
    golden.add("compare/" + name + ".html", Files.readString(page));
  }

  private void onDevices(String one, String other) throws IOException {
    command("compare/devices.txt", "compare", one, other);
    command("compare/devices.json", "analyze", "portability", one, other, "--json");
    command("compare/devices.md", "report", one, other, "--format", "md");
    Path folder = OUT.resolve("devices");
    command("", "report", one, other, "--format", "latex", "--output", folder);
    golden.addFolder("compare/latex", folder, "{tables/devices,figures/spread}*");
  }

  /**
   * Runs a command and adds its output, or its message if it refuses.
   *
   * @param name empty for a command that writes files and must succeed
   */
  private void command(String name, Object... words) {
    List<Object> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--out", OUT));
    Kbx.Result result = Kbx.here(all.toArray());
    if (name.isEmpty()) assertThat(result.exit()).as(result.err()).isZero();
    else golden.add(name, result.exit() == 0 ? result.out() : result.out() + result.err());
  }

  private void served(List<GoldenRun> runs, String comparison)
      throws IOException, InterruptedException {
    Machine machine =
        new Machine(
            new IdleReferee(),
            SimulatedRun.CPU,
            Map.of("kbx", "0.1.0"),
            "golden",
            Map.of("kernelbenchx", Bundled.suite("kernelbenchx")),
            Bundled.STATEMENT);
    StoreAddress address = StoreAddress.of(OUT.resolve("kbx.db"));
    Listening where = new Listening("127.0.0.1", 0, false, Optional.empty());
    try (RunStore store = RunStore.open(address);
        RunStore reads = RunStore.open(address);
        KbxServer server = KbxServer.start(where, store, reads, machine, 10, OUT);
        HttpClient http = HttpClient.newHttpClient()) {
      page(http, server, "home", "/");
      page(http, server, "runs", "/runs");
      page(http, server, "leaderboard", "/leaderboard");
      page(http, server, "leaderboard-gpu", "/leaderboard?device=NVIDIA+H200");
      page(http, server, "tasks", "/tasks");
      page(http, server, "task", "/tasks/kernelbenchx/Loss/mse_loss");
      page(http, server, "submit", "/submit");
      page(http, server, "system", "/system");
      page(http, server, "compare", comparison);
      for (GoldenRun run : runs) {
        page(http, server, run.name() + "-run", "/runs/" + run.id());
        int last = run.verdicts().size() - 1;
        String candidate = run.verdicts().get(last).provenance().candidate();
        String at = "?run=%s&position=%d".formatted(run.id(), last);
        page(http, server, run.name() + "-candidate", "/candidates/" + candidate + at);
      }
    }
  }

  private void page(HttpClient http, KbxServer server, String name, String path)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path)).build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as(path).isEqualTo(200);
    golden.add("serve/" + name + ".html", response.body());
  }

  /** A referee for a server without submissions. */
  private static final class IdleReferee implements Referee {
    @Override
    public Judgement judge(Candidate candidate, Plan plan) {
      throw new IllegalStateException("nothing was submitted");
    }

    @Override
    public int capacity() {
      return 1;
    }

    @Override
    public void expect(Plan plan, int candidates) {
      // There are none.
    }
  }
}
