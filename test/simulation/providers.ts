import { type Provider, RpcRefused, RpcUnavailable } from '../../services/chain-submitter/rpc.ts';
import {
  type Chain,
  CONFIRMED_SLOTS,
  FINALIZED_SLOTS,
  type Landed,
  readPayment,
  type TokenAccount,
} from './chain.ts';
import { decode, type Parties, TOKEN_PROGRAM } from './parties.ts';
import type { Process, World } from './world.ts';

/**
 * How a provider errs. `lagging`: its whole view is that many slots old. `forgetful`: it keeps no history beyond a few
 * slots. `awayUntil`: it answers nothing before that moment of the run. The proof of expiry needs one provider that does neither, so a run has at most one of these.
 */
export type Profile = { lagSlots: number; forgetful: boolean; awayUntil: number };

/** Slots that a node remembers without searching its history. */
const SHORT_MEMORY_SLOTS = 150;
const FORGETFUL_SLOTS = 10;
const LATENCY_MS = 60;

/** The bytes of a token account, as the token program lays them out. */
const accountBytes = ({ owner, amount, delegate, allowance }: TokenAccount, mint: string): string => {
  const data = Buffer.alloc(165);
  data.set(decode(mint), 0);
  data.set(decode(owner), 32);
  data.writeBigUInt64LE(amount, 64);
  if (delegate !== null) {
    data.writeUInt32LE(1, 72);
    data.set(decode(delegate), 76);
    data.writeBigUInt64LE(allowance, 121);
  }
  data[108] = 1;
  return data.toString('base64');
};

/** A provider of the environment as one process sees it. */
export const createProvider = (
  world: World,
  chain: Chain,
  { mint }: Pick<Parties, 'mint'>,
  { process, number, profile }: { process: Process; number: number; profile: Profile },
): Provider => {
  const { random } = world;
  const tip = () => chain.indexBehind(profile.lagSlots);
  const slotNow = () => chain.blockAt(tip()).slot;
  const confirmed = () => chain.indexBehind(profile.lagSlots + CONFIRMED_SLOTS);
  const finalized = () => chain.indexBehind(profile.lagSlots + FINALIZED_SLOTS);
  const seen = (signature: string, slots: number): Landed | undefined => {
    const landed = chain.find(signature);
    return landed !== undefined && landed.slot <= slotNow() - slots ? landed : undefined;
  };

  const call = <T>(what: string, effect: () => T): Promise<T> =>
    world.io(process, LATENCY_MS, () => {
      if (random.chance(world.faults.rpcError) || world.now() < profile.awayUntil)
        throw new RpcUnavailable(`provider ${number}: ${what}`);
      return effect();
    });
  const fresh = (minContextSlot: number | undefined) => {
    const slot = chain.blockAt(confirmed()).slot;
    if (minContextSlot !== undefined && slot < minContextSlot)
      throw new RpcRefused(-32016, 'minimum context slot has not been reached');
    return { context: { slot } };
  };

  const statusOf = (signature: string, history: boolean) => {
    // A lie: the node says that it does not know what it does know.
    if (!history && random.chance(world.faults.rpcLie)) return null;
    const landed = seen(signature, 0);
    if (landed === undefined) return null;
    const age = slotNow() - landed.slot;
    const memory = profile.forgetful ? FORGETFUL_SLOTS : history ? Infinity : SHORT_MEMORY_SLOTS;
    if (age > memory) return null;
    const confirmationStatus =
      age >= FINALIZED_SLOTS ? 'finalized' : age >= CONFIRMED_SLOTS ? 'confirmed' : 'processed';
    return { slot: landed.slot, err: landed.error, confirmationStatus } as const;
  };

  return {
    number,
    genesisHash: () => call('genesis', () => 'genesis'),
    blockHeight: (commitment) =>
      call('blockHeight', () => {
        // Mutation: as if bytes were dead as soon as anybody asks.
        if (world.off === 'expiry proof: block height') return tip() + 1000;
        return commitment === 'finalized' ? finalized() : confirmed();
      }),
    latestBlockhash: () =>
      call('latestBlockhash', () => {
        const index = confirmed();
        const { hash, slot } = chain.blockAt(index);
        return {
          context: { slot },
          value: { blockhash: hash, lastValidBlockHeight: chain.lastValidOf(index) },
        };
      }),
    accounts: (addresses, minContextSlot) =>
      call('accounts', () => ({
        ...fresh(minContextSlot),
        value: addresses.map((address) => {
          const account = chain.accountAt(address, confirmed());
          if (account === null) return null;
          const data: [string, 'base64'] = [accountBytes(account, mint), 'base64'];
          return { data, owner: TOKEN_PROGRAM, executable: false };
        }),
      })),
    simulate: (wire, minContextSlot) =>
      call('simulate', () => ({
        ...fresh(minContextSlot),
        value: { err: chain.simulate(readPayment(wire)) },
      })),
    send: (wire) =>
      call('send', () => {
        const payment = readPayment(wire);
        if (random.chance(world.faults.dropped)) return payment.signature;
        chain.accept(payment);
        // Taken, and the answer is lost.
        if (random.chance(world.faults.rpcError) || world.now() < profile.awayUntil)
          throw new RpcUnavailable(`provider ${number}: send`);
        return payment.signature;
      }),
    statuses: (signatures, { history }) =>
      call('statuses', () => ({
        slot: slotNow(),
        statuses: signatures.map((signature) => statusOf(signature, history)),
      })),
    succeededWith: (address) =>
      call('succeededWith', () => {
        if (profile.forgetful || world.off === 'reference look-up before signing') return [];
        return [...chain.all()]
          .filter(({ payment, error }) => payment.reference === address && error === null)
          .filter(({ payment }) => seen(payment.signature, CONFIRMED_SLOTS))
          .map(({ payment }) => payment.signature);
      }),
    // Asked for deposits alone, which the simulation does not play.
    finalized: () => call('finalized', () => null),
    balances: (signature, commitment) =>
      call('balances', () => {
        const landed = seen(signature, commitment === 'finalized' ? FINALIZED_SLOTS : CONFIRMED_SLOTS);
        if (landed === undefined || profile.forgetful) return null;
        const { slot, error, deltas } = landed;
        return { slot, err: error, deltaOf: (account) => deltas.get(account) ?? 0n };
      }),
  };
};
