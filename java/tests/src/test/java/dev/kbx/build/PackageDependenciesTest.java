package dev.kbx.build;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Modules and packages depend one way, as {@code docs/architecture.md} and {@code docs/modules}
 * draw them. What follows from two other arrows is not drawn.
 */
class PackageDependenciesTest {
  private static final Pattern ARROW =
      Pattern.compile("^ {2}(\\w+)(?: --> (\\w+))?$", Pattern.MULTILINE);

  private static final int MOST_ARROWS = 45;

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.kbx");

  /** The module of each package, by the folders of the sources. */
  private static final Map<String, String> MODULES = modules();

  /** The packages that each package uses. */
  private static final Map<String, Set<String>> USES = uses();

  private static Map<String, String> modules() {
    Map<String, String> modules = new TreeMap<>();
    for (Path module : folders(Path.of("java"))) {
      if (module.endsWith("tests")) continue;
      for (Path room : folders(module.resolve("src/main/java/dev/kbx"))) {
        modules.put(name(room), name(module));
      }
    }
    return modules;
  }

  private static List<Path> folders(Path parent) {
    try (Stream<Path> entries = Files.list(parent)) {
      return entries.filter(Files::isDirectory).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String name(Path folder) {
    return folder.getFileName().toString();
  }

  private static Map<String, Set<String>> uses() {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      Set<String> used = uses.computeIfAbsent(room(type), _ -> new TreeSet<>());
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        String target = room(dependency.getTargetClass());
        if (!target.isEmpty() && !target.equals(room(type))) used.add(target);
      }
    }
    return uses;
  }

  private static String room(JavaClass type) {
    String name = type.getPackageName();
    if (!name.startsWith("dev.kbx.")) return "";
    int end = name.indexOf('.', "dev.kbx.".length());
    return name.substring("dev.kbx.".length(), end < 0 ? name.length() : end);
  }

  @Test
  void allClassesAreScanned() {
    assertThat(CLASSES.size()).isGreaterThan(500);
    assertThat(USES.keySet()).isEqualTo(MODULES.keySet());
  }

  @Test
  void modulesDependAsDrawn() throws IOException {
    Map<String, Set<String>> used = among(USES.keySet(), MODULES::get);
    assertThat(drawn(Path.of("docs/architecture.md"), "## Modules")).isEqualTo(direct(used));
    assertThat(used).hasSizeLessThan(10);
  }

  @Test
  void packagesOfEachModuleDependAsDrawn() throws IOException {
    int arrows = 0;
    for (String module : Set.copyOf(MODULES.values())) {
      Set<String> own = USES.keySet().stream().filter(isOf(module)).collect(Collectors.toSet());
      Map<String, Set<String>> direct = direct(among(own, Function.identity()));
      Path page = Path.of("docs/modules", module + ".md");
      assertThat(drawn(page, "## Packages")).as(page.toString()).isEqualTo(direct);
      for (String room : own) assertThat(page).content().contains("\n| `" + room + "` | ");
      arrows += direct.values().stream().mapToInt(Set::size).sum();
    }
    assertThat(arrows).isBetween(1, MOST_ARROWS);
  }

  private static Predicate<String> isOf(String module) {
    return room -> module.equals(MODULES.get(room));
  }

  /** What {@code rooms} use of each other, by the name of the box that each is in. */
  private static Map<String, Set<String>> among(Set<String> rooms, Function<String, String> box) {
    Map<String, Set<String>> among = new TreeMap<>();
    for (String room : rooms) {
      Set<String> used = among.computeIfAbsent(box.apply(room), _ -> new TreeSet<>());
      USES.get(room).stream().filter(rooms::contains).map(box).forEach(used::add);
      used.remove(box.apply(room));
    }
    return among;
  }

  /** Without the arrows that follow from others. */
  private static Map<String, Set<String>> direct(Map<String, Set<String>> uses) {
    Map<String, Set<String>> direct = new TreeMap<>();
    uses.forEach((box, used) -> {
      Set<String> indirect = new TreeSet<>();
      for (String next : used) addAllBelow(next, uses, indirect);
      Set<String> rest = new TreeSet<>(used);
      rest.removeAll(indirect);
      direct.put(box, rest);
    });
    return direct;
  }

  private static void addAllBelow(String box, Map<String, Set<String>> uses, Set<String> below) {
    for (String next : uses.get(box)) if (below.add(next)) addAllBelow(next, uses, below);
  }

  private static Map<String, Set<String>> drawn(Path page, String heading) throws IOException {
    String text = Files.readString(page);
    String section = text.substring(text.indexOf("\n" + heading + "\n"));
    String picture = section.substring(0, section.indexOf("\n```\n"));
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (var arrow : ARROW.matcher(picture).results().toList()) {
      Set<String> used = arrows.computeIfAbsent(arrow.group(1), _ -> new TreeSet<>());
      if (arrow.group(2) == null) continue;
      used.add(arrow.group(2));
      arrows.computeIfAbsent(arrow.group(2), _ -> new TreeSet<>());
    }
    return arrows;
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("dev.kbx.(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void everyPackageIsNullMarked() {
    for (String room : MODULES.keySet()) {
      List<String> annotations =
          CLASSES.getPackage("dev.kbx." + room).getAnnotations().stream()
              .map(a -> a.getRawType().getSimpleName())
              .toList();
      assertThat(annotations).as(room).contains("NullMarked");
    }
  }
}
