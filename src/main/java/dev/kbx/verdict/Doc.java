package dev.kbx.verdict;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Meaning of a record component that users see as a field of files: the only description of it.
 * {@link Fields} reads it; documentation pages and the HTTP contract are made from it.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Doc {
  /** One phrase that stands alone, in Markdown. */
  String value();

  /** Unit of a number, spelled out; empty if the meaning says it or there is none. */
  String unit() default "";
}
