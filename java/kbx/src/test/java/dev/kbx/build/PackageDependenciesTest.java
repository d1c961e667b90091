package dev.kbx.build;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Packages depend one way, as {@code docs/architecture.md} draws them. */
class PackageDependenciesTest {
  private static final Pattern ARROW =
      Pattern.compile("^ {2}(\\w+) --> (\\w+)$", Pattern.MULTILINE);

  /** What each package may use, read from the picture. */
  private static final Map<String, Set<String>> MAY_USE = picture();

  private static Map<String, Set<String>> picture() {
    String page;
    try {
      page = Files.readString(Path.of("docs/architecture.md"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (MatchResult arrow : ARROW.matcher(page).results().toList()) {
      arrows.computeIfAbsent(arrow.group(1), _ -> new TreeSet<>()).add(arrow.group(2));
      arrows.computeIfAbsent(arrow.group(2), _ -> new TreeSet<>());
    }
    return arrows;
  }

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.kbx");

  @Test
  void looksAtTheWholeSystem() {
    assertThat(CLASSES.size()).isGreaterThan(500);
    Set<String> packages =
        CLASSES.stream().map(PackageDependenciesTest::room).collect(Collectors.toSet());
    assertThat(packages).isEqualTo(MAY_USE.keySet());
  }

  @Test
  void eachPackageUsesOnlyWhatItMay() {
    Set<String> broken = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass();
        if (!target.getPackageName().startsWith("dev.kbx.")) continue;
        if (room(target).equals(room(type))) continue;
        if (!MAY_USE.getOrDefault(room(type), Set.of()).contains(room(target))) {
          broken.add(type.getName() + " uses " + target.getName());
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void everyArrowIsUsed() {
    Map<String, Set<String>> used = new TreeMap<>();
    MAY_USE.keySet().forEach(room -> used.put(room, new TreeSet<>()));
    for (JavaClass type : CLASSES) {
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        String target = room(dependency.getTargetClass());
        if (MAY_USE.containsKey(target) && !target.equals(room(type))) {
          used.computeIfAbsent(room(type), _ -> new TreeSet<>()).add(target);
        }
      }
    }
    assertThat(MAY_USE).isEqualTo(used);
  }

  @Test
  void noCycles() {
    slices().matching("dev.kbx.(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void everyPackageIsNullMarked() {
    for (String room : MAY_USE.keySet()) {
      List<String> annotations =
          CLASSES.getPackage("dev.kbx." + room).getAnnotations().stream()
              .map(a -> a.getRawType().getSimpleName())
              .toList();
      assertThat(annotations).as(room).contains("NullMarked");
    }
  }

  private static String room(JavaClass type) {
    String name = type.getPackageName();
    if (!name.startsWith("dev.kbx.")) return "";
    int end = name.indexOf('.', "dev.kbx.".length());
    return name.substring("dev.kbx.".length(), end < 0 ? name.length() : end);
  }
}
