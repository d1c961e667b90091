package dev.kbx.server;

import java.util.Set;

/** Who asks. */
record Client(String name, Set<Scope> scopes) {
  /** Context key of a request. */
  static final String LOCAL = "local";

  enum Scope {
    SUBMIT,
    READ,
    ADMIN
  }

  Client {
    scopes = Set.copyOf(scopes);
  }

  boolean may(Scope scope) {
    return scopes.contains(Scope.ADMIN) || scopes.contains(scope);
  }
}
