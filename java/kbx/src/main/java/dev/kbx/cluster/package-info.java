/**
 * Judging on the nodes of a Ray cluster. {@link dev.kbx.cluster.ClusterReferee} is the driver's
 * side; {@link dev.kbx.cluster.NodeServer} is what each node's own kbx runs. Between them the
 * bridge, in Python, carries frames that it does not read.
 *
 * <p>Ray says which nodes there are and which have died; {@link dev.kbx.cluster.SlotRegister} keeps
 * that, {@link dev.kbx.cluster.Assignments} decides what it means for candidates, and {@link
 * dev.kbx.cluster.ClusterDispatcher} does it, over a {@link dev.kbx.cluster.Connection} that comes
 * back after a loss.
 */
@NullMarked
package dev.kbx.cluster;

import org.jspecify.annotations.NullMarked;
