package dev.kbx.dashboard;

/**
 * What the form was filled with; empty where nothing was.
 *
 * @param task {@code Category/name}
 * @param grade empty for the server's
 * @param policy empty for the usual one of the task
 */
public record SubmissionForm(
    String suite, String task, String grade, String policy, String run, String code) {}
