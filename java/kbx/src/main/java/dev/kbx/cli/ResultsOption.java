package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import picocli.CommandLine.Mixin;

/** Where runs and their verdicts are: {@code --out} and {@code --store}. */
final class ResultsOption {
  @Mixin private OutOption out = new OutOption();
  @Mixin private StoreOption store = new StoreOption();

  ResultsFolder folder() {
    return store.of(out.path());
  }
}
