import type { Account } from 'litesvm/dist/internal.js';

/**
 * What accounts held before the slots that are not final yet, for forks and for reads at older
 * commitments.
 */
export const createUndoLog = () => {
  /** Per account, oldest first: its content before its first change in that slot. */
  const undo = new Map<string, { slot: number; before: Account | null }[]>();
  const changedIn = new Map<number, Set<string>>();

  const keep = (name: string, slots: (slot: number) => boolean): void => {
    const left = undo.get(name)?.filter(({ slot }) => slots(slot)) ?? [];
    if (left.length > 0) undo.set(name, left);
    else undo.delete(name);
  };

  return {
    remember: (name: string, slot: number, before: Account | null): void => {
      const entries = undo.get(name) ?? [];
      if (entries.at(-1)?.slot === slot) return;
      entries.push({ slot, before });
      undo.set(name, entries);
      const names = changedIn.get(slot) ?? new Set();
      changedIn.set(slot, names.add(name));
    },

    /** The content at the end of `slot`. Undefined: it has not changed since. */
    contentAt: (name: string, slot: number): Account | null | undefined =>
      undo.get(name)?.find((one) => one.slot > slot)?.before,

    /** The names of the accounts that changed in slots that are not final yet. */
    names: () => undo.keys(),

    /** Removes the records of slots up to this one, because they are final. */
    finalize: (slot: number): void => {
      for (const [changed, names] of changedIn) {
        if (changed > slot) break;
        for (const name of names) keep(name, (one) => one > slot);
        changedIn.delete(changed);
      }
    },

    /** Removes the records from `firstLostSlot` on, and calls back with what each account held. */
    fork: (firstLostSlot: number, restore: (name: string, before: Account | null) => void): void => {
      for (const [name, entries] of undo) {
        const lost = entries.find(({ slot }) => slot >= firstLostSlot);
        if (lost === undefined) continue;
        restore(name, lost.before);
        keep(name, (slot) => slot < firstLostSlot);
      }
      for (const slot of changedIn.keys()) if (slot >= firstLostSlot) changedIn.delete(slot);
    },
  };
};
