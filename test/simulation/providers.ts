import { RpcRefused, RpcUnavailable } from '../../services/chain-submitter/chain/json-rpc.ts';
import type { Provider } from '../../services/chain-submitter/chain/provider.ts';
import { type Actors, decode, TOKEN_PROGRAM } from './actors.ts';
import {
  type Chain,
  CONFIRMED_SLOTS,
  FINALIZED_SLOTS,
  type Included,
  type Payment,
  readPayment,
  SLOT_MS,
  type TokenAccount,
} from './chain.ts';
import { EPOCH } from './database.ts';
import type { Harness, Process } from './harness.ts';
import { hidesHistory, includedOf, isUnder, restsOnNumbers } from './outgoing-chain.ts';

/**
 * The faults of a provider. `lagSlots`: its view is that many slots old. `forgetfulUntil`: until
 * that moment of the run it has no history beyond a few slots. `unavailableUntil`: it does not
 * answer. `liesUntil`: it invents outcomes and slots, and names heights too low for true
 * blockhashes. The proofs need one provider without faults, so a run has at most one faulty
 * provider. `namesNothingUntil`: a provider without faults that often fails to name a blockhash, so
 * that only the lying one does.
 */
export type Profile = {
  lagSlots: number;
  forgetfulUntil: number;
  unavailableUntil: number;
  liesUntil: number;
  namesNothingUntil: number;
};

/** Slots that a node has without a search of its history. */
const SHORT_MEMORY_SLOTS = 150;
const FORGETFUL_SLOTS = 10;
const LATENCY_MS = 60;
/** How often a lying provider lies, and the slot that it invents. */
const LIES = 0.5;
const INVENTED_SLOT = 1_000_000_000;
/** How often the other provider is not heard when bytes are signed. */
const SILENCES = 0.5;

/** The bytes of a token account in the layout of the token program. */
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
  harness: Harness,
  chain: Chain,
  { mint, network }: Pick<Actors, 'mint' | 'network'>,
  { process, number, profile }: { process: Process; number: number; profile: Profile },
): Provider => {
  const { random } = harness;
  const tip = () => chain.indexBehind(profile.lagSlots);
  const isForgetful = () => harness.now() < profile.forgetfulUntil;
  const lies = () => harness.now() < profile.liesUntil && random.chance(LIES);
  /** Blocks by which it names a height too low. */
  const tooLow = () => random.int(10, 301);
  /** The bytes that were sent to it: it can invent an inclusion with all amounts. */
  const sent = new Map<string, Payment>();
  /** Mutation: it confirms whatever the other one says. */
  const agrees = harness.off?.endsWith('another provider confirms') === true;
  const slotNow = () => chain.blockAt(tip()).slot;
  const confirmed = () => chain.indexBehind(profile.lagSlots + CONFIRMED_SLOTS);
  const finalized = () => chain.indexBehind(profile.lagSlots + FINALIZED_SLOTS);
  const seen = (signature: string, slots: number): Included | undefined => {
    const included = chain.find(signature);
    return included !== undefined && included.slot <= slotNow() - slots ? included : undefined;
  };

  const call = <T>(what: string, effect: () => T): Promise<T> =>
    harness.io(process, LATENCY_MS, () => {
      if (random.chance(harness.faults.rpcError) || harness.now() < profile.unavailableUntil)
        throw new RpcUnavailable(`provider ${number}: ${what}`);
      return effect();
    });
  /** It is not heard when the last block of new bytes is asked for. */
  const nameOrThrow = (what: string): void => {
    if (harness.now() < profile.namesNothingUntil && random.chance(SILENCES))
      throw new RpcUnavailable(`provider ${number}: ${what}`);
  };
  const fresh = (minContextSlot: number | undefined) => {
    const slot = chain.blockAt(confirmed()).slot;
    if (minContextSlot !== undefined && slot < minContextSlot)
      throw new RpcRefused(-32016, 'minimum context slot has not been reached');
    return { context: { slot } };
  };

  const invented = (signature: string) => {
    const slot = slotNow();
    const err = random.chance(0.5)
      ? { InstructionError: [0, { Custom: 1 }] as [number, { Custom: number }] }
      : null;
    if (err === null) chain.claimed.set(signature, slot);
    return { slot, err, confirmationStatus: random.pick(['confirmed', 'finalized'] as const) };
  };
  const cost = { feePayer: network.feePayer, feeLamports: 10_000n, rentLamports: 0n };
  /** The balance changes of a payment whose inclusion it never observed. */
  const inventedBalances = (payment: Payment) => ({
    slot: slotNow(),
    err: null,
    deltaOf: (account: string) =>
      payment.transfers.reduce(
        (sum, { source, destination, amount }) =>
          sum + (destination === account ? amount : 0n) - (source === account ? amount : 0n),
        0n,
      ),
    cost,
    feePayer: () => network.feePayer,
  });

  const statusOf = (signature: string, history: boolean) => {
    // Mutation: the proof searches no history.
    if (history && harness.off === 'incoming: expiry, search of history') return null;
    if (lies()) return invented(signature);
    // A lie: the node denies a status that it has.
    if (!history && random.chance(harness.faults.rpcLie)) return null;
    const included = seen(signature, 0);
    if (included === undefined) return null;
    const age = slotNow() - included.slot;
    const memory = isForgetful() ? FORGETFUL_SLOTS : history ? Infinity : SHORT_MEMORY_SLOTS;
    if (age > memory) return null;
    const confirmationStatus =
      age >= FINALIZED_SLOTS ? 'finalized' : age >= CONFIRMED_SLOTS ? 'confirmed' : 'processed';
    return { slot: included.slot, err: included.error, confirmationStatus } as const;
  };

  return {
    number,
    genesisHash: () => call('genesis', () => 'genesis'),
    blockHeight: (commitment, minContextSlot) =>
      call('blockHeight', () => {
        if (minContextSlot !== undefined) {
          nameOrThrow('blockHeight');
          fresh(minContextSlot);
        }
        // Mutation: bytes count as expired as soon as a status is requested.
        if (harness.off === 'expiry proof: block height') return tip() + 1000;
        if (commitment === 'finalized') return finalized();
        return lies() ? confirmed() - tooLow() : confirmed();
      }),
    recentFees: async () => [],
    latestBlockhash: (commitment) =>
      call('latestBlockhash', () => {
        nameOrThrow('latestBlockhash');
        const index = commitment === 'finalized' ? finalized() : confirmed();
        const { hash, slot } = chain.blockAt(index);
        if (commitment === 'finalized') chain.finalHashes.add(hash);
        return {
          context: { slot },
          value: {
            blockhash: hash,
            lastValidBlockHeight: chain.lastValidOf(index) - (lies() ? tooLow() : 0),
          },
        };
      }),
    accounts: (addresses, minContextSlot, commitment) =>
      call('accounts', () => ({
        ...(lies() ? { context: { slot: INVENTED_SLOT } } : fresh(minContextSlot)),
        value: addresses.map((address) => {
          const account = chain.accountAt(address, commitment === 'processed' ? tip() : confirmed());
          if (account === null) return null;
          const data: [string, 'base64'] = [accountBytes(account, mint), 'base64'];
          return { data, owner: TOKEN_PROGRAM, executable: false };
        }),
      })),
    simulate: (wire, minContextSlot) =>
      call('simulate', () => {
        const payment = readPayment(wire);
        // A message of another client may have a blockhash that this provider does not know yet.
        const isUnknown = payment.reference === null && !chain.isValidAt(payment.blockhash, confirmed());
        const err = isUnknown ? ('BlockhashNotFound' as const) : chain.simulate(payment);
        return { ...fresh(minContextSlot), value: { err } };
      }),
    // No payment of the simulation is of a smart wallet or has lookup tables.
    simulateOutcome: async () => Promise.reject(new Error('no payment is judged by its outcome')),
    movements: async () => Promise.reject(new Error('no payment is judged by its outcome')),
    send: (wire) =>
      call('send', () => {
        const payment = readPayment(wire);
        if (profile.liesUntil > 0 || agrees) sent.set(payment.signature, payment);
        if (random.chance(harness.faults.dropped)) return payment.signature;
        chain.accept(payment);
        // Accepted, and the answer is lost.
        if (random.chance(harness.faults.rpcError) || harness.now() < profile.unavailableUntil)
          throw new RpcUnavailable(`provider ${number}: send`);
        return payment.signature;
      }),
    statuses: (signatures, { history }) =>
      call('statuses', () => ({
        slot: slotNow(),
        statuses: signatures.map((signature) => statusOf(signature, history)),
      })),
    listSignatures: (address, before) =>
      call('listSignatures', () => {
        if (harness.off === 'incoming: expiry, search of history') return [];
        if (isForgetful() || harness.off === 'query of the reference before signing' || before !== undefined)
          return [];
        if (hidesHistory(harness, { number, address })) return [];
        return [...chain.all()]
          .filter(({ payment }) => isUnder(payment, address))
          .filter(({ payment }) => seen(payment.signature, CONFIRMED_SLOTS))
          .map(({ payment, error, slot }) => {
            const at = EPOCH + slot * SLOT_MS;
            return { signature: payment.signature, slot, succeeded: error === null, at };
          });
      }),
    // Used for deposits only, which the simulation does not have.
    finalized: () => call('finalized', () => null),
    included: (signature) =>
      call('included', () => {
        const included = seen(signature, CONFIRMED_SLOTS);
        const unsent = chain.named.get(signature);
        if (included === undefined && unsent !== undefined && lies())
          return includedOf(unsent.wire, { isFalse: false });
        if (included === undefined || isForgetful()) return null;
        return includedOf(included.payment.wire, { isFalse: lies() });
      }),
    isBlockhashValid: (blockhash) =>
      call('isBlockhashValid', () => {
        // Mutations: the proof rests on heights alone, or on nothing.
        if (harness.off === 'incoming: expiry, valid blockhash') return false;
        if (harness.off?.startsWith('expiry proof: ') && harness.off !== 'expiry proof: every provider')
          return false;
        if (restsOnNumbers(harness) && chain.finalHashes.has(blockhash)) return false;
        return chain.isValidAt(blockhash, finalized()) || chain.isValidAt(blockhash, tip());
      }),
    finalizedBlock: (slot, signatures) =>
      call('finalizedBlock', () => {
        const block = [...chain.all()].filter((one) => one.slot === slot);
        if (isForgetful() || slot > slotNow() - FINALIZED_SLOTS) return null;
        const ours = block.filter(({ payment }) => signatures.has(payment.signature));
        return {
          transactions: block.length,
          changes: new Map(
            ours.map(({ payment, deltas }) => [
              payment.signature,
              { deltaOf: (account: string) => deltas.get(account) ?? 0n, cost },
            ]),
          ),
        };
      }),
    balances: (signature, commitment) =>
      call('balances', () => {
        const payment = sent.get(signature) ?? chain.named.get(signature);
        if (payment !== undefined && lies()) return inventedBalances(payment);
        const included = seen(signature, commitment === 'finalized' ? FINALIZED_SLOTS : CONFIRMED_SLOTS);
        const slot = chain.claimed.get(signature);
        if (included === undefined && agrees && payment !== undefined && slot !== undefined)
          return { ...inventedBalances(payment), slot };
        if (included === undefined || isForgetful()) return null;
        const { error, deltas } = included;
        const feePayer = () => network.feePayer;
        const deltaOf = (account: string) => deltas.get(account) ?? 0n;
        return { slot: included.slot, err: error, deltaOf, cost, feePayer };
      }),
  };
};
