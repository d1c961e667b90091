package dev.kbx.server;

import java.util.Optional;

/**
 * Where a server listens, and to whom.
 *
 * @param host name or address of a network interface
 * @param port 0 for any free one
 * @param requireTokens whether requests without a token are refused on loopback, too
 * @param tls none for plain HTTP
 */
public record Listening(String host, int port, boolean requireTokens, Optional<TlsKeys> tls) {}
