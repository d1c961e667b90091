package dev.kbx.cli;

import dev.kbx.app.Bundle;
import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.error.InputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kbx package}: makes a bundle for machines without Java. */
@Command(
    name = "package",
    description = "Make a bundle with its own Java runtime for Linux x86-64; prints its path.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Unpack it anywhere (tar -xf) and run its kbx. It uses the python3 there if",
      "that has torch and triton, or the one that $KBX_PYTHON or --python names."
    })
final class PackageCommand implements Callable<Integer> {
  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "Where the bundle goes. Default: target/ of the checkout.")
  private @Nullable Path out;

  /** The name that it had. */
  @Option(names = "--out", hidden = true)
  void formerly(Path given) {
    out = given;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (Files.isDirectory(Home.here().folder().resolve("runtime")))
      throw new InputException(
          Home.here().folder() + " is a bundle already; make bundles in a checkout");
    Path out = this.out == null ? Home.here().folder().resolve("target") : this.out;
    try {
      Path folder = ResultsFolder.writable("--output " + out, out).toRealPath();
      Bundle bundle = new Bundle(Home.here().folder(), Home.version(), Terminal::say);
      System.out.println(bundle.make(folder));
      return ExitCode.OK;
    } catch (IOException e) {
      throw new InputException("cannot make the bundle in %s: %s".formatted(out, Reason.of(e)), e);
    }
  }
}
