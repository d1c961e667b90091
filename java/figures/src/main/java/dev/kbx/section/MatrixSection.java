package dev.kbx.section;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.kbx.analysis.EnvironmentMatrix;
import dev.kbx.analysis.EnvironmentMatrix.Change;
import dev.kbx.analysis.EnvironmentMatrix.Environment;
import dev.kbx.analysis.EnvironmentMatrix.Kernel;
import dev.kbx.analysis.EnvironmentMatrix.Result;
import dev.kbx.analysis.EnvironmentMatrix.Timed;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Column;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@link EnvironmentMatrix}: what changed, every kernel in every environment, and these. */
public final class MatrixSection {
  /** Kernels listed: those that change first. */
  private static final int LISTED = 200;

  private static final int HASH = 7;

  private final EnvironmentMatrix matrix;
  private final Map<String, String> names;

  private MatrixSection(EnvironmentMatrix matrix) {
    this.matrix = matrix;
    this.names = names(matrix.kernels());
  }

  /** The document of a matrix. */
  public static Document document(EnvironmentMatrix matrix) {
    MatrixSection sections = new MatrixSection(matrix);
    return new Document(
        "The same kernels under several environments",
        List.of(sections.changes(), sections.kernels(), sections.environments()));
  }

  private Section changes() {
    Blocks blocks = new Blocks();
    String first = matrix.environments().getFirst().label();
    long changed = matrix.kernels().stream().filter(kernel -> kernel.differs() != null).count();
    long worse =
        matrix.changes().stream()
            .filter(change -> change.kind().worse())
            .map(change -> change.category() + change.task() + change.candidate())
            .distinct()
            .count();
    blocks.prose(
        "%d of %d kernels are not everywhere as under %s; %d became worse.",
        changed, matrix.kernels().size(), first, worse);
    blocks.first(
        LISTED,
        "changes",
        "What changed against %s, at the first environment where it did.".formatted(first),
        changeColumns(),
        matrix.changes());
    return blocks.section("changes", "What changed");
  }

  private List<Column.Of<Change>> changeColumns() {
    List<Column.Of<Change>> columns =
        new ArrayList<>(
            List.of(
                Column.<Change>text("kernel", this::name),
                new Column.Of<Change>(Column.text("what"), MatrixSection::what),
                Column.<Change>text("as before", Change::between).optional(),
                Column.text("since", Change::since),
                Column.text("change", Change::detail)));
    // A kernel that is slower has no message.
    if (matrix.changes().stream().anyMatch(change -> change.message() != null)) {
      columns.add(Column.<Change>text("why", Change::message).wrapped());
    }
    return columns;
  }

  private static Cell what(Change change) {
    String text = change.kind().label().replace('_', ' ');
    return Cell.label(text, change.kind().worse() ? Tone.BAD : Tone.GOOD);
  }

  private Section kernels() {
    Blocks blocks = new Blocks();
    List<Kernel> sorted =
        matrix.kernels().stream()
            .sorted(Comparator.comparing((Kernel kernel) -> kernel.differs() == null))
            .toList();
    blocks.first(
        LISTED,
        "matrix",
        "The verdict on each kernel in each environment; those that differ first.",
        columns((result, _) -> status(result), false),
        sorted);
    if (matrix.timed()) {
      blocks.first(
          LISTED,
          "speed",
          "Speedup against the baseline in the same environment, with 95 % intervals.",
          columns((result, _) -> speed(result.speedup()), true),
          sorted);
    } else {
      blocks.note("Performance was not measured, so a kernel that became slower is not seen.");
    }
    List<Kernel> properties =
        sorted.stream().filter(kernel -> !differing(kernel).isEmpty()).toList();
    blocks.first(
        LISTED,
        "properties",
        "Properties that do not hold in all environments, where kernels break on them.",
        columns(MatrixSection::breaks, false),
        properties);
    return blocks.section("kernels", "Kernels");
  }

  private List<Column.Of<Kernel>> columns(
      BiFunction<Result, Set<String>, Cell> cell, boolean number) {
    List<Column.Of<Kernel>> columns = new ArrayList<>();
    columns.add(Column.<Kernel>text("kernel", this::name));
    for (int i = 0; i < matrix.environments().size(); i++) {
      String label = matrix.environments().get(i).label();
      int place = i;
      Function<Kernel, Cell> shown =
          kernel -> {
            Result result = kernel.results().get(place);
            return result == null ? Cell.missing() : cell.apply(result, differing(kernel));
          };
      columns.add(new Column.Of<>(number ? Column.number(label) : Column.text(label), shown));
    }
    return columns;
  }

  private static Cell status(Result result) {
    Tone tone =
        switch (result.status().blame()) {
          case NOBODY -> Tone.GOOD;
          case CANDIDATE -> Tone.BAD;
          case TASK, KBX -> Tone.ODD;
        };
    return Cell.label(result.status().label(), tone);
  }

  private static Cell speed(@Nullable Timed timed) {
    return timed == null ? Cell.missing() : Cell.ratio(timed.value(), timed.low(), timed.high());
  }

  private static Cell breaks(Result result, Set<String> differing) {
    Set<String> broken = new TreeSet<>(result.breaks());
    broken.retainAll(differing);
    return broken.isEmpty() ? Cell.missing() : Cell.text(String.join(", ", broken));
  }

  /** Properties that a kernel has in one environment and breaks on in another. */
  private static Set<String> differing(Kernel kernel) {
    Set<String> held = new TreeSet<>();
    Set<String> broken = new TreeSet<>();
    for (Result result : kernel.results()) {
      if (result == null) continue;
      held.addAll(result.holds());
      broken.addAll(result.breaks());
    }
    broken.retainAll(held);
    return broken;
  }

  private Section environments() {
    Blocks blocks = new Blocks();
    blocks.table(
        "environments",
        "The environments, and how many of the kernels judged there are correct.",
        List.of(
            Column.text("environment", Environment::label),
            version("triton"),
            version("torch"),
            version("python"),
            Column.number("correct", each -> Cell.part(each.correct(), each.judged())),
            Column.<Environment>text("run", each -> String.join(" ", each.runs())).optional()),
        matrix.environments());
    long torches =
        matrix.environments().stream()
            .map(each -> each.versions().getOrDefault("torch", ""))
            .distinct()
            .count();
    if (torches > 1) {
      blocks.note(
          "PyTorch differs as well: a change may be due to it, and each speedup is against another"
              + " baseline.");
    }
    return blocks.section("environments", "Environments");
  }

  private static Column.Of<Environment> version(String name) {
    return Column.<Environment>text(name, each -> each.versions().get(name)).optional();
  }

  private String name(Kernel kernel) {
    return names.getOrDefault(kernel.candidate() + kernel.path(), kernel.path());
  }

  private String name(Change change) {
    String path = change.category() + "/" + change.task();
    return names.getOrDefault(change.candidate() + path, path);
  }

  /** The task; of several candidates for one also the file, or the hash where files are alike. */
  private static Map<String, String> names(List<Kernel> kernels) {
    Map<String, String> names = new HashMap<>();
    Map<String, List<Kernel>> tasks =
        kernels.stream().collect(groupingBy(Kernel::path, LinkedHashMap::new, toList()));
    tasks.forEach((path, each) -> {
      if (each.size() < 2) return;
      boolean telling = each.stream().map(MatrixSection::file).distinct().count() == each.size();
      for (Kernel kernel : each) {
        String own = telling ? file(kernel) : kernel.candidate().substring(0, HASH);
        names.put(kernel.candidate() + path, path + " " + own);
      }
    });
    return names;
  }

  private static String file(Kernel kernel) {
    return ComparisonSection.file(kernel.source());
  }
}
