/**
 * What models are asked: prompts from the template files of {@code prompts/}, and feedback from
 * judgements. Start with {@link dev.kbx.prompt.PromptWriter}.
 *
 * <p>Pure: equal arguments give equal text, on any machine and at any time. Nothing here sends
 * requests or reads replies.
 */
@NullMarked
package dev.kbx.prompt;

import org.jspecify.annotations.NullMarked;
