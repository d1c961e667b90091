package dev.kbx.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import picocli.CommandLine.Model.OptionSpec;

/** Headings under which a long help lists its options, in their order. */
enum HelpSection {
  JUDGED("What is judged"),
  METHOD("The method"),
  PROMPT("The prompt"),
  MODEL("The model"),
  BUDGET("What a method may spend"),
  RULES("How it is judged"),
  SPEED("How speed is measured"),
  SIGNING("Signing"),
  CHECKING("Checking a certificate"),
  SERVICE("Address and access"),
  PLACE("Where it runs"),
  RESULTS("Runs and results"),
  OTHER("Other");

  private final String heading;

  HelpSection(String heading) {
    this.heading = heading;
  }

  String heading() {
    return heading;
  }

  /** The section of an option: that of its field, else of the class that has it, else OTHER. */
  static HelpSection of(OptionSpec option) {
    if (!(option.userObject() instanceof AnnotatedElement field)) return OTHER;
    In own = field.getAnnotation(In.class);
    if (own == null && field instanceof Member member) {
      own = member.getDeclaringClass().getAnnotation(In.class);
    }
    return own == null ? OTHER : own.value();
  }

  /** Names the section of an option, or of all options of a class. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.FIELD, ElementType.TYPE})
  @interface In {
    HelpSection value();
  }
}
