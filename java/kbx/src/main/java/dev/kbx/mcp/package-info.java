/**
 * The tools and resources of the Model Context Protocol. {@link dev.kbx.mcp.McpEndpoint} answers
 * its messages, whatever carries them; {@link dev.kbx.mcp.ToolBackend} is what the tools work with.
 */
@NullMarked
package dev.kbx.mcp;

import org.jspecify.annotations.NullMarked;
