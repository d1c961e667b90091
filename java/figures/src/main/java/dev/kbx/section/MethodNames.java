package dev.kbx.section;

import dev.kbx.analysis.Inclusion;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.document.Text;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Short, different names of methods with models for figures and heads of tables. */
public final class MethodNames {
  /** Characters of a name, and of a method or a model alone. */
  private static final int LONGEST = 30;

  private static final int WHOLE = 40;

  private static final String UNSTATED = "not stated";

  /** The name where candidates have neither method nor model. */
  static final String ALL = "all candidates";

  private final Map<MethodAndModel, String> names = new LinkedHashMap<>();

  MethodNames(List<MethodAndModel> makers) {
    boolean methods = makers.stream().map(MethodAndModel::method).distinct().count() > 1;
    boolean models = makers.stream().map(MethodAndModel::model).distinct().count() > 1;
    Set<String> used = new HashSet<>();
    for (MethodAndModel maker : makers) {
      String name = Text.cutMiddle(name(maker, methods, models), LONGEST);
      String unique = name;
      for (int i = 2; !used.add(unique); i++) {
        unique = Text.cutMiddle(name, LONGEST - 4) + " " + i;
      }
      names.put(maker, unique);
    }
  }

  /** The names of the candidates that an analysis counts. */
  public static MethodNames of(Inclusion entered) {
    return new MethodNames(
        entered.made().stream()
            .map(made -> new MethodAndModel(made.method(), made.model()))
            .toList());
  }

  /** What differs between makers; method and model if nothing does. */
  private static String name(MethodAndModel maker, boolean methods, boolean models) {
    String method = maker.method() == null ? "" : Text.clean(maker.method());
    String model = maker.model() == null ? "" : Text.clean(maker.model());
    if (method.isEmpty() && model.isEmpty()) return methods || models ? UNSTATED : ALL;
    if (methods && !models && !method.isEmpty()) return method;
    if (models && !methods && !model.isEmpty()) return model;
    if (method.isEmpty() || model.isEmpty()) return method + model;
    return method + " · " + model;
  }

  /** A method or a model by itself. */
  static String whole(@Nullable String name) {
    return name == null ? UNSTATED : Text.cutMiddle(Text.clean(name), WHOLE);
  }

  /** The name of a method and model; of one that is not among those given, method and model. */
  public String of(MethodAndModel maker) {
    String name = names.get(maker);
    return name == null ? Text.cutMiddle(name(maker, true, true), LONGEST) : name;
  }

  public String of(@Nullable String method, @Nullable String model) {
    return of(new MethodAndModel(method, model));
  }
}
