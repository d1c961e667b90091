package dev.kbx.cli;

import dev.kbx.app.Home;
import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"kbx " + Home.version()};
  }
}
