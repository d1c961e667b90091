package dev.kbx.program;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;

/**
 * A use of a value of another module, or of an attribute of an unknown value.
 *
 * @param path of what is read, bound or deleted: {@code torch.cuda.Event}, {@code ?.data}
 * @param node the name, attribute, subscript, import or call that uses it
 */
public record Access(String path, Kind kind, Node node, Place place, Scope scope) {
  /** How a path is used. */
  public enum Kind {
    READ,
    WRITE,
    DELETE
  }
}
