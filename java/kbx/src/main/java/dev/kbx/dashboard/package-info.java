/**
 * The pages of {@code kbx serve}: from what a store, the suites and the server's queue say to HTML.
 * Start with {@link dev.kbx.dashboard.Dashboard}. Knows nothing of HTTP; the server routes
 * addresses to it.
 */
@NullMarked
package dev.kbx.dashboard;

import org.jspecify.annotations.NullMarked;
