/**
 * {@code kbx serve}: the HTTP interface. {@link dev.kbx.server.KbxServer} listens, and {@code
 * openapi.yaml} beside the classes is its contract.
 */
@NullMarked
package dev.kbx.server;

import org.jspecify.annotations.NullMarked;
