package dev.kbx.cli;

import dev.kbx.verdict.Json;
import picocli.CommandLine.Option;

/** {@code --json}, of commands whose output programs read, too. */
final class JsonOption {
  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  private boolean json;

  boolean isAsked() {
    return json;
  }

  /** Prints a document on stdout, indented. */
  static void print(Object document) {
    System.out.println(Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(document));
  }
}
