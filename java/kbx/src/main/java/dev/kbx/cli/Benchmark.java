package dev.kbx.cli;

import java.util.concurrent.Callable;

/**
 * A subcommand of {@code kbx bench} that is not in the program's own jar file: a picocli command,
 * found by {@link java.util.ServiceLoader}.
 */
public interface Benchmark extends Callable<Integer> {}
