package dev.kbx.cli;

import dev.kbx.app.Experts;
import dev.kbx.mcp.LocalBackend;
import dev.kbx.mcp.StdioServer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx mcp}: tools for an agent that starts it. */
@Command(
    name = "mcp",
    description = "Give an agent tools to judge by, over stdin and stdout (MCP).",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx mcp --budget 20",
      "  kbx mcp --suite my_tasks --out agent-out",
      "",
      "A client of the Model Context Protocol starts it; docs/mcp.md says how. Tools:",
      "tasks, prompt, check, judge, explain, profile, reproduce, best_known. Workers",
      "start with the first kernel. It ends when its input ends."
    })
final class McpCommand implements Callable<Integer> {
  @HelpSection.In(HelpSection.JUDGED)
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      split = ",",
      defaultValue = "kernelbenchx,kernelbench",
      description =
          "Suites with the tasks, names or folders; the first is that of tasks that are named"
              + " without one. Default: ${DEFAULT-VALUE}.")
  private List<String> suites = List.of();

  @HelpSection.In(HelpSection.SPEED)
  @Option(
      names = "--baseline",
      paramLabel = "FILE",
      description =
          "File or folder of an expert's kernels, named as sources of kbx eval are: the agent's"
              + " are timed beside that of their task, and the share of its speed is reported."
              + " Each must be correct, which is judged before the agent's first. May be given"
              + " more than once.")
  private List<Path> baseline = List.of();

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--budget",
      paramLabel = "N",
      defaultValue = "100",
      converter = Values.Count.class,
      description = "Kernels that the agent may have judged. Default: ${DEFAULT-VALUE}.")
  private int budget = 100;

  @Mixin private Options.Results results = new Options.Results();
  @Mixin private Options.Seed seed = new Options.Seed();
  @Mixin private Options.Workers workers = new Options.Workers();

  @Override
  public Integer call() throws Exception {
    workers.check();
    LocalBackend.Conditions conditions =
        new LocalBackend.Conditions(
            suites,
            Experts.existing(baseline, "kernels are timed against eager here"),
            results.folder(),
            workers.settings(),
            seed.given(),
            budget);
    PrintStream printed = System.out;
    // Whatever prints, the client reads messages alone.
    System.setOut(System.err);
    try (LocalBackend backend = new LocalBackend(conditions);
        PrintStream out =
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        Interrupts interrupts = new Interrupts("stopped")) {
      interrupts.expect("stopped");
      new StdioServer(backend, out).serve(System.in);
    } finally {
      System.setOut(printed);
    }
    return ExitCode.OK;
  }
}
