package dev.kbx.cli;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.app.UserError;
import dev.kbx.document.Block;
import dev.kbx.verdict.RunInfo;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs of results as others published them, which no output may mistake for kbx's own. */
final class AsPublished {
  private final List<RunInfo> runs;

  private AsPublished(List<RunInfo> runs) {
    this.runs = runs;
  }

  /** Those among some runs. */
  static AsPublished among(List<JudgedRun> runs) {
    return new AsPublished(
        runs.stream().map(JudgedRun::run).filter(run -> run.published() != null).toList());
  }

  /** Throws if some of the runs are as published and others were judged here. */
  static void refuseMixture(List<JudgedRun> all) {
    AsPublished published = among(all);
    if (published.runs.isEmpty() || published.runs.size() == all.size()) return;
    RunInfo judged =
        all.stream()
            .map(JudgedRun::run)
            .filter(run -> run.published() == null)
            .findFirst()
            .orElseThrow();
    throw new UserError(
        "run %s is as published and run %s was judged by kbx: analyse them one by one, or 'kbx compare' them"
            .formatted(published.runs.getFirst().id(), judged.id()));
  }

  /** A note for each. */
  List<Block.Note> notes() {
    return runs.stream()
        .map(run ->
            new Block.Note(
                "Run %s is as published (%s): kbx has judged none of it."
                    .formatted(run.id(), format(run))))
        .toList();
  }

  /** Prints a line for each; nothing without one. */
  void print(PrintStream out) {
    notes().forEach(note -> out.println(note.text()));
    if (!runs.isEmpty()) out.println();
  }

  /** The document, with a member that has the format of each; unchanged without one. */
  Object marked(Object document) {
    if (runs.isEmpty() || !(document instanceof Map<?, ?> members)) return document;
    Map<String, Object> formats = new LinkedHashMap<>();
    for (RunInfo run : runs) formats.put(run.id(), format(run));
    Map<Object, Object> marked = new LinkedHashMap<>(members);
    marked.put("as_published", formats);
    return marked;
  }

  private static String format(RunInfo run) {
    RunInfo.Published published = run.published();
    return published == null ? "" : published.format();
  }
}
