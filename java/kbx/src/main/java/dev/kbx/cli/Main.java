package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.WorkerSource;
import dev.kbx.worker.ScratchFolder;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Entry point: {@code kbx COMMAND …}. */
@Command(
    name = "kbx",
    description = "Judges machine-written GPU kernels: correct or not, and how fast.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Exit codes: 0 the command completed (whatever the verdicts),",
      "1 wrong usage or unreadable input, 2 it could not complete."
    })
public final class Main {
  @Option(
      names = "--stack-trace",
      scope = ScopeType.INHERIT,
      description = "Print where an error came from.")
  private boolean stackTrace;

  static {
    // Before anything logs; a method of that class would make the JDK's own manager first.
    String _ = System.setProperty("java.util.logging.manager", LastingLog.class.getName());
  }

  /** Libraries log only warnings. The reference keeps the setting from being garbage-collected. */
  private static final Logger LIBRARIES = Logger.getLogger("");

  /** In the order of the help. */
  private static final List<Class<?>> COMMANDS =
      List.of(
          EvalCommand.class,
          GenerateCommand.class,
          RunCommand.class,
          CheckCommand.class,
          TasksCommand.class,
          RunsCommand.class,
          CompareCommand.class,
          MatrixCommand.class,
          ReproduceCommand.class,
          AnalyzeCommand.class,
          AuditCommand.class,
          ReportCommand.class,
          ImportCommand.class,
          ExportCommand.class,
          CertifyCommand.class,
          ServeCommand.class,
          TokensCommand.class,
          McpCommand.class,
          ModelsCommand.class,
          DoctorCommand.class,
          BenchCommand.class,
          PackageCommand.class,
          NodeCommand.class,
          AutoComplete.GenerateCompletion.class,
          CommandLine.HelpCommand.class);

  /** Commands that say something of the others. */
  private static final Set<Class<?>> ABOUT_OTHERS =
      Set.of(AutoComplete.GenerateCompletion.class, CommandLine.HelpCommand.class);

  private final WorkerSource workers;

  private Main(WorkerSource workers) {
    this.workers = workers;
  }

  /** Runs the command and ends the JVM with its {@link ExitCode}. */
  public static void main(String[] args) {
    quietLibraries();
    StandardOutput output = StandardOutput.install();
    OptionalInt byDaemon = DaemonClient.run(args);
    int exit =
        output.exit(byDaemon.isPresent() ? byDaemon.getAsInt() : run(WorkerSource.NEW, args));
    ScratchFolder.delete();
    System.exit(exit);
  }

  static void quietLibraries() {
    LIBRARIES.setLevel(Level.WARNING);
  }

  /**
   * Runs the command with workers from {@code workers}; returns its {@link ExitCode}. All that is
   * printed meanwhile goes through {@link TerminalStream}.
   */
  static int run(WorkerSource workers, String... args) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    System.setOut(TerminalStream.of(out));
    System.setErr(
        TerminalStream.of(err, Terminal.interactive() ? Terminal.columns() : Integer.MAX_VALUE));
    try {
      return runSafely(workers, args);
    } finally {
      System.out.close();
      System.err.close();
      System.setOut(out);
      System.setErr(err);
    }
  }

  private static int runSafely(WorkerSource workers, String... args) {
    Locale.setDefault(Locale.ROOT); // Output is read by programs and compared between machines.
    Main main = new Main(workers);
    CommandLine commands = new CommandLine(main);
    if (asksForTheCommands(args)) COMMANDS.forEach(command -> listed(commands, command));
    else add(commands, needed(args));
    prepare(commands);
    commands.setOut(TerminalStream.styling(System.out));
    commands.setParameterExceptionHandler(Main::wrongUsage);
    commands.setExecutionStrategy(Main::execute);
    commands.setExecutionExceptionHandler((e, _, _) -> main.failed(e));
    if (args.length == 0) {
      TerminalStream.style(System.err, commands.getUsageMessage());
      return ExitCode.USAGE;
    }
    return commands.execute(args);
  }

  /** All commands with their options and help. */
  static CommandLine all(WorkerSource workers) {
    CommandLine commands = new CommandLine(new Main(workers));
    add(commands, COMMANDS);
    prepare(commands);
    return commands;
  }

  private static void prepare(CommandLine commands) {
    commands.setCaseInsensitiveEnumValuesAllowed(true);
    commands.registerConverter(Path.class, Values::path);
    haveVersion(commands);
    CommandHelp.install(commands);
  }

  private static void add(CommandLine to, List<Class<?>> commands) {
    // A line of its own each, for which alone picocli transforms a model, as that of bench.
    commands.forEach(command -> to.addSubcommand(new CommandLine(command)));
  }

  /** The command that the first word names; all of them if it names none, or one about others. */
  private static List<Class<?>> needed(String[] args) {
    // picocli reads the options of every command by reflection: for all of them that takes longer
    // than all else before a command begins.
    String first = args.length == 0 ? "" : args[0];
    if (first.equals("--version") || first.equals("-V")) return List.of();
    return COMMANDS.stream()
        .filter(command -> first.equals(name(command)) && !ABOUT_OTHERS.contains(command))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElse(COMMANDS);
  }

  private static boolean asksForTheCommands(String[] args) {
    return args.length == 0 || (args.length == 1 && Set.of("--help", "-h").contains(args[0]));
  }

  /** Adds a command as the list of all commands shows it, without its options. */
  private static void listed(CommandLine commands, Class<?> command) {
    Command about = command.getAnnotation(Command.class);
    CommandSpec spec = CommandSpec.create();
    spec.usageMessage()
        .hidden(about.hidden())
        .header(about.header())
        .description(about.description());
    commands.addSubcommand(about.name(), spec);
  }

  private static String name(Class<?> command) {
    return command.getAnnotation(Command.class).name();
  }

  /** Where the command with this specification gets its workers from. */
  static WorkerSource workers(CommandSpec command) {
    return ((Main) command.root().userObject()).workers;
  }

  /** Gives each command the version, as picocli does not inherit it. */
  private static void haveVersion(CommandLine commands) {
    commands.getCommandSpec().versionProvider(() -> new String[] {"kbx " + Home.version()});
    commands.getSubcommands().values().forEach(Main::haveVersion);
  }

  /** Refuses an unknown subcommand with --help, for which picocli would show the parent's help. */
  private static int execute(CommandLine.ParseResult parsed) {
    CommandLine.ParseResult last = parsed;
    while (last.hasSubcommand()) last = last.subcommand();
    CommandLine command = last.commandSpec().commandLine();
    if (!last.unmatched().isEmpty() && !command.getSubcommands().isEmpty()) {
      throw new CommandLine.UnmatchedArgumentException(command, last.unmatched());
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  private static int wrongUsage(CommandLine.ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintStream err = System.err;
    Optional<String> known = Values.message(e);
    err.println("kbx: " + known.orElse(e.getMessage()));
    CommandLine.UnmatchedArgumentException.printSuggestions(e, err);
    if (known.isEmpty())
      err.println("Try 'kbx help' or '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }

  private int failed(Exception e) {
    if (stackTrace) e.printStackTrace();
    if (e instanceof InterruptedException)
      return ExitCode.INCOMPLETE; // Interrupts says what to do.
    Failure failure = Failure.of(e);
    System.err.println("kbx: " + failure.message());
    return failure.exit();
  }

  /** Standard output that keeps the cause of a failed write, which {@link System#out} does not. */
  private static final class StandardOutput extends FilterOutputStream {
    private static final Path DESCRIPTOR = Path.of("/proc/self/fd/1");

    /** Mask of the file type in a Linux file mode. */
    private static final int KIND = 0xf000;

    private static final int PIPE = 0x1000;
    private static final int SOCKET = 0xc000;

    private @Nullable IOException failure;

    private StandardOutput(OutputStream to) {
      super(to);
    }

    /** Replaces {@link System#out}. */
    static StandardOutput install() {
      StandardOutput watched = new StandardOutput(new FileOutputStream(FileDescriptor.out));
      System.setOut(new PrintStream(new BufferedOutputStream(watched), true, System.out.charset()));
      return watched;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        if (failure == null) failure = e;
        throw e;
      }
    }

    /** The exit code of a command that ended with {@code code}; reports lost output. */
    int exit(int code) {
      System.out.flush();
      if (failure == null || leadsToReader()) return code;
      System.err.println("kbx: cannot write to stdout: " + Reason.of(failure));
      return ExitCode.INCOMPLETE;
    }

    /** Whether stdout is a pipe or socket, whose reader may stop early, as {@code head} does. */
    private static boolean leadsToReader() {
      try {
        int kind = (int) Files.getAttribute(DESCRIPTOR, "unix:mode") & KIND;
        return kind == PIPE || kind == SOCKET;
      } catch (IOException _) {
        return false;
      }
    }
  }
}
