/**
 * Certificates: the verdicts of a run in one signed file, with the rounds that their figures follow
 * from. Start with {@link dev.kbx.certify.CertificateWriter} and {@link
 * dev.kbx.certify.CertificateCheck}.
 */
@NullMarked
package dev.kbx.certify;

import org.jspecify.annotations.NullMarked;
