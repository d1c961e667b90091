package dev.kbx.server;

/**
 * Where a server listens.
 *
 * @param host name or address of a network interface
 * @param port 0 for any free one
 */
public record Listening(String host, int port) {}
