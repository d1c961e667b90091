package dev.kbx.syntax;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The packages that a module's import statements name. */
final class ImportedModules {
  private ImportedModules() {}

  /** First parts of absolute names: {@code cutlass} of {@code import cutlass.cute as cute}. */
  static Set<String> of(Node module, Utf8 source) {
    Set<String> found = new HashSet<>();
    for (Node node : module.all()) {
      if (node.is("import_statement")) {
        for (Node child : node.children())
          add(child.is("aliased_import") ? child.child("name") : child, source, found);
      } else if (node.is("import_from_statement")) {
        add(node.child("module_name"), source, found);
      }
    }
    return found;
  }

  private static void add(@Nullable Node name, Utf8 source, Set<String> found) {
    if (name == null || !name.is("dotted_name")) return;
    String text = source.text(name);
    int dot = text.indexOf('.');
    found.add(dot < 0 ? text : text.substring(0, dot));
  }
}
