/**
 * Runs as publications: tables and figures for papers, and files of data for other tools. Start
 * with {@link dev.kbx.paper.Publication}, which holds all analyses of some runs.
 *
 * <p>A table ({@code Tabular}) and a figure ({@code Figure}) are data first, and are then rendered
 * as LaTeX, Markdown or SVG. Nothing is computed here that {@code analysis} computes.
 */
@NullMarked
package dev.kbx.paper;

import org.jspecify.annotations.NullMarked;
