package dev.kbx.generate;

import dev.kbx.generate.Program.ProgramFailure;
import dev.kbx.method.Next.Consultation;
import dev.kbx.method.ProgramAnswer;

/** The program that is the method of one trajectory. Not for several threads at once. */
sealed interface Consultant extends AutoCloseable permits Program, AgentSession {
  /** The program's next answer. */
  ProgramAnswer answer(Consultation consultation) throws ProgramFailure, InterruptedException;

  /** Ends the program. */
  @Override
  void close();
}
