/**
 * kbx's own benchmarks: the bundled cheats and honest kernels, whose headers say the expected
 * verdict, and what judging costs. Each command is a {@link dev.kbx.cli.Benchmark}; start with
 * {@link dev.kbx.bench.CheatsCommand}.
 */
@NullMarked
package dev.kbx.bench;

import org.jspecify.annotations.NullMarked;
