package dev.kbx.paper;

import java.util.Locale;

/** Names of files and labels: lower-case letters, digits and hyphens. */
final class Slug {
  private Slug() {}

  static String of(String name) {
    String slug = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    return slug.replaceAll("^-|-$", "");
  }
}
