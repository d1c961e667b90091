package dev.kbx.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What is public is used by another package or its tests; all else is its package's business. */
class VisibilityTest {
  private static final JavaClasses WITH_TESTS = new ClassFileImporter().importPackages("dev.kbx");

  /** Without the tests. */
  private static final JavaClasses CLASSES =
      WITH_TESTS.that(DescribedPredicate.describe("are not tests", type -> !isTest(type)));

  @Test
  void aTypeIsPublicOnlyWhereAnotherPackageUsesIt() {
    Set<String> needless = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      if (type.isNestedClass() || !isPublic(type) || isMain(type)) continue;
      if (CLASSES.stream()
          .filter(c -> isWithin(c, type))
          .noneMatch(VisibilityTest::usedElsewhere)) {
        needless.add(type.getName());
      }
    }
    assertThat(needless).isEmpty();
  }

  @Test
  void aMemberIsPublicOnlyWhereAnotherPackageUsesIt() {
    Set<String> needless = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      if (!isPublic(type) || isMain(type) || type.isRecord() || type.isEnum() || type.isInterface())
        continue;
      for (JavaCodeUnit unit : type.getCodeUnits()) {
        if (isPublic(unit) && !overrides(unit) && !usedElsewhere(unit)) {
          needless.add(unit.getFullName());
        }
      }
    }
    assertThat(needless).isEmpty();
  }

  /**
   * What runs kbx, or is made by the JDK, is not in its packages; nor are uses of constants, which
   * the compiler copies.
   */
  private static boolean isMain(JavaClass type) {
    return Set.of("dev.kbx.cli.Main", "dev.kbx.cli.LastingLog", "dev.kbx.cli.ExitCode")
            .contains(type.getName())
        || type.isAssignableTo("dev.kbx.cli.Benchmark");
  }

  private static boolean isTest(JavaClass type) {
    return type.getSource()
        .map(source -> source.getUri().getPath())
        .filter(path -> path != null && path.contains("/test-classes/"))
        .isPresent();
  }

  private static boolean isWithin(JavaClass inner, JavaClass outer) {
    return inner.equals(outer) || inner.getName().startsWith(outer.getName() + "$");
  }

  private static boolean usedElsewhere(JavaClass type) {
    return type.getDirectDependenciesToSelf().stream()
        .map(Dependency::getOriginClass)
        .anyMatch(
            origin -> !isTest(origin) && !origin.getPackageName().equals(type.getPackageName()));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(VisibilityTest::isPublic).orElse(true);
  }

  private static boolean isPublic(JavaMember member) {
    return member.getModifiers().contains(JavaModifier.PUBLIC)
        && !member.getModifiers().contains(JavaModifier.SYNTHETIC);
  }

  private static boolean usedElsewhere(JavaCodeUnit unit) {
    String own = unit.getOwner().getPackageName();
    return unit.getAccessesToSelf().stream()
        .map(JavaAccess::getOriginOwner)
        .anyMatch(origin -> !origin.getPackageName().equals(own));
  }

  private static boolean overrides(JavaCodeUnit unit) {
    if (!(unit instanceof JavaMethod method)) return false;
    Class<?>[] parameters =
        method.getRawParameterTypes().stream().map(JavaClass::reflect).toArray(Class<?>[]::new);
    return method.getOwner().getAllRawSuperclasses().stream()
            .anyMatch(s -> has(s, method, parameters))
        || method.getOwner().getAllRawInterfaces().stream()
            .anyMatch(s -> has(s, method, parameters));
  }

  private static boolean has(JavaClass type, JavaMethod method, Class<?>[] parameters) {
    try {
      var _ = type.reflect().getMethod(method.getName(), parameters);
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }
}
