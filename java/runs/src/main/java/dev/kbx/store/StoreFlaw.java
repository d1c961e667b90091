package dev.kbx.store;

/**
 * Something that derives from other data of a store and differs from it.
 *
 * @param what of what kind the rows are, in words
 * @param rows how many
 * @param mendable whether {@link RunStore#mend} makes it anew
 */
public record StoreFlaw(String what, int rows, boolean mendable) {}
