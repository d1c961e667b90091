package dev.kbx.judge;

/**
 * What one machine compiled of a candidate, for another that judges it.
 *
 * @param key differs with everything that the rest depends on: source, task, architecture, versions
 */
public record Binaries(String key, Ahead compiled) {}
