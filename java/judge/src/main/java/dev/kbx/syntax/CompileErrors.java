package dev.kbx.syntax;

import dev.kbx.syntax.PythonSource.SyntaxError;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Errors that Python finds in source that the parser accepts: statements outside of what they
 * belong to, the order and names of parameters and arguments, statements of Python 2.
 */
final class CompileErrors {
  private static final Pattern COMMAND = Pattern.compile("(print|exec) *(?!not\\b)[\\w\"']");

  private final Utf8 source;

  private CompileErrors(Utf8 source) {
    this.source = source;
  }

  /** A node and what its scope allows. */
  private record Visit(Node node, boolean function, boolean type, boolean loop) {
    /** A child, as part of this node. */
    Visit child(Node child) {
      boolean body = "body".equals(child.field());
      if (body && node.is("function_definition", "lambda")) {
        return new Visit(child, true, false, false);
      }
      if (body && node.is("class_definition")) return new Visit(child, false, true, false);
      boolean repeated = body && node.is("for_statement", "while_statement");
      return new Visit(child, function, type, loop || repeated);
    }
  }

  /** The first in source order of a module that was parsed without an error; null for none. */
  static @Nullable SyntaxError first(Node module, Utf8 source) {
    CompileErrors errors = new CompileErrors(source);
    Deque<Visit> open = new ArrayDeque<>();
    open.push(new Visit(module, false, false, false));
    while (!open.isEmpty()) {
      Visit visit = open.pop();
      String message = errors.of(visit);
      if (message != null) {
        Place place = source.place(visit.node);
        return new SyntaxError(place.line(), place.column(), place.text().strip(), message);
      }
      for (Node child : visit.node.children().reversed()) open.push(visit.child(child));
    }
    return null;
  }

  private @Nullable String of(Visit visit) {
    Node node = visit.node;
    return switch (node.kind()) {
      case "return_statement" -> visit.function ? null : "'return' outside function";
      case "yield" ->
          // The keyword has the same kind as the expression.
          visit.function || node.children().isEmpty() ? null : "'yield' outside function";
      case "break_statement" -> visit.loop ? null : "'break' outside loop";
      case "continue_statement" -> visit.loop ? null : "'continue' not properly in loop";
      case "nonlocal_statement" ->
          visit.function || visit.type ? null : "nonlocal declaration not allowed at module level";
      case "wildcard_import" ->
          visit.function || visit.type ? "import * only allowed at module level" : null;
      case "print_statement", "exec_statement" -> command(node);
      case "parameters", "lambda_parameters" -> parameters(node);
      case "argument_list" -> arguments(node);
      default -> null;
    };
  }

  /** Python 2's statements; {@code print (x), 2} is an expression of Python 3 too. */
  private @Nullable String command(Node node) {
    String name = node.is("print_statement") ? "print" : "exec";
    return COMMAND.matcher(source.text(node)).lookingAt()
        ? "missing parentheses in call to '" + name + "'"
        : null;
  }

  private @Nullable String parameters(Node list) {
    Set<String> names = new HashSet<>();
    boolean defaulted = false;
    boolean keywordOnly = false;
    for (Node parameter : list.children()) {
      Node name = name(parameter);
      if (name != null && !names.add(source.text(name))) {
        return "duplicate argument '" + source.text(name) + "' in function definition";
      }
      Node bare = parameter.is("typed_parameter") ? parameter.children().getFirst() : parameter;
      if (bare.is("list_splat_pattern", "keyword_separator")) keywordOnly = true;
      boolean value = parameter.is("default_parameter", "typed_default_parameter");
      if (defaulted && !keywordOnly && bare.is("identifier")) {
        return "parameter without a default follows parameter with a default";
      }
      defaulted |= value;
    }
    return null;
  }

  /** The identifier of a parameter; null for separators. */
  private static @Nullable Node name(Node parameter) {
    Node name = parameter.child("name");
    if (name == null && parameter.is("typed_parameter")) name = parameter.children().getFirst();
    if (name == null) name = parameter;
    if (name.is("list_splat_pattern", "dictionary_splat_pattern")) {
      name = name.children().getLast();
    }
    return name.is("identifier") ? name : null;
  }

  private @Nullable String arguments(Node list) {
    Set<String> names = new HashSet<>();
    boolean keyword = false;
    boolean mapping = false;
    for (Node argument : list.children()) {
      if (argument.is("(", ")", ",")) continue;
      if (argument.is("keyword_argument")) {
        Node name = argument.child("name");
        if (name != null && !names.add(source.text(name))) {
          return "keyword argument repeated: " + source.text(name);
        }
        keyword = true;
      } else if (argument.is("dictionary_splat")) {
        mapping = true;
      } else if (argument.is("list_splat")) {
        if (mapping) return "iterable argument unpacking follows keyword argument unpacking";
      } else if (mapping) {
        return "positional argument follows keyword argument unpacking";
      } else if (keyword) {
        return "positional argument follows keyword argument";
      }
    }
    return null;
  }
}
