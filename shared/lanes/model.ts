/**
 * Which lanes a replica takes. As few replicas as the load needs own lanes, because payments that
 * are together share statements. The others stand by.
 */

/**
 * An owner is busy above this load, and another replica takes half of its lanes. The load is the
 * used part of a core, because the handlers of a process run on one.
 */
export const BUSY = 0.6;
/** An owner below this load gives its lanes to another one. */
const IDLE = 0.2;
/** Two owners become one while their load together leaves so much room below `BUSY`. */
const JOINED = 0.45;
/** After a move the loads are those of before for some seconds. */
const SETTLING_MS = 5000;

export type Replica = { replica_id: string; load: number };
export type Lane = { lane: number; replica_id: string | null };
/** @property replicas those whose lease has not ended */
export type State = { replicas: readonly Replica[]; lanes: readonly Lane[]; movedMsAgo: number };

/** The least loaded first, and of the same load the one with the lower id. */
const byLoad = (a: Replica, b: Replica): number => a.load - b.load || (a.replica_id < b.replica_id ? -1 : 1);

/**
 * The lanes that a replica takes now. Every replica decides for itself, on what it has read. Two
 * that decide at the same moment may want the same lane, and the statement that takes it decides.
 */
export const lanesToTake = ({ replicas, lanes, movedMsAgo }: State, own: Replica): Lane[] => {
  const running = [own, ...replicas.filter(({ replica_id }) => replica_id !== own.replica_id)];
  const lanesOf = ({ replica_id }: Replica) => lanes.filter((lane) => lane.replica_id === replica_id);
  const owners = running.filter((replica) => lanesOf(replica).length > 0);
  const others = owners.filter((owner) => owner !== own);

  const orphaned = lanes.filter((lane) => !running.some(({ replica_id }) => replica_id === lane.replica_id));
  if (orphaned.length > 0) {
    // An owner is preferred, so that a stand-by becomes an owner only if it is needed.
    const able = others.filter(({ load }) => load <= BUSY);
    return owners.includes(own) || able.length === 0 ? orphaned : [];
  }
  if (movedMsAgo < SETTLING_MS) return [];

  const busiest = others.toSorted(byLoad).at(-1);
  if (busiest !== undefined && busiest.load > BUSY) {
    const taker = running.filter((replica) => replica !== busiest).toSorted(byLoad)[0];
    const taken = lanesOf(busiest);
    // Every second one. The only lane of an owner stays.
    if (taker === own && own.load <= JOINED) return taken.filter((_, index) => index % 2 === 1);
    return [];
  }
  // The owner with the lowest id is the one that stays.
  const first = owners.toSorted((a, b) => (a.replica_id < b.replica_id ? -1 : 1))[0];
  const idle = others.toSorted(byLoad)[0];
  if (first !== own || idle === undefined || idle.load >= IDLE) return [];
  return own.load + idle.load <= JOINED ? lanesOf(idle) : [];
};
