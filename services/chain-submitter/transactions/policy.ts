import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { type BuiltOrder, isUserSigned } from '../ledger/model/order.ts';
import { type KnownInstruction, readInstruction } from './decode.ts';
import { USDC_DECIMALS } from './instructions/shared.ts';
import { decodeMessage, type PlainMessage } from './message.ts';

/**
 * The policy decides what may be signed. It checks the decoded bytes and shares no code with the
 * builders (rule 7). A bug of a builder, or of a library, is therefore caught before anything is
 * signed.
 */
export class PolicyError extends Error {
  override name = 'PolicyError';
}

const require = (met: boolean, what: string): void => {
  if (!met) throw new PolicyError(what);
};

type Of<N extends KnownInstruction['name']> = Extract<KnownInstruction, { name: N }>;

const shift = <N extends KnownInstruction['name']>(rest: KnownInstruction[], name: N): Of<N> => {
  const next = rest.shift();
  if (next?.name !== name) throw new PolicyError(`expected ${name}, found ${next?.name ?? 'nothing'}`);
  return next as Of<N>;
};

const checkCreation = (rest: KnownInstruction[], network: Network, owner: string, tokenAccount: string) => {
  if (rest[0]?.name !== 'createTokenAccount') return;
  const creation = shift(rest, 'createTokenAccount');
  require(creation.payer === network.feePayer, 'the fee payer pays for token accounts');
  require(creation.owner === owner && creation.tokenAccount === tokenAccount, 'another token account');
  require(creation.mint === network.mint, 'another mint');
};

const checkTransfer = (
  rest: KnownInstruction[],
  mint: string,
  expected: {
    source: string;
    authority: string;
    destination: string;
    amountMicro: bigint;
    reference: string | null;
  },
) => {
  const transfer = shift(rest, 'transferChecked');
  require(transfer.mint === mint && transfer.decimals === USDC_DECIMALS, 'another mint');
  require(transfer.source === expected.source, 'another source');
  require(transfer.destination === expected.destination, 'another destination');
  require(transfer.authority === expected.authority, 'another authority');
  require(transfer.amountMicro === expected.amountMicro, 'another amount');
  require(transfer.reference === expected.reference, 'another reference');
};

const checkBudget = (rest: KnownInstruction[], budget: Network['computeBudget']) => {
  if (budget === null) return;
  require(shift(rest, 'computeUnitLimit').units === budget.units, 'another compute unit limit');
  const { microLamports } = shift(rest, 'computeUnitPrice');
  // Where the price follows recent fees, the configured one is its limit.
  const isWithin = budget.follows
    ? microLamports <= budget.microLamports
    : microLamports === budget.microLamports;
  require(isWithin, 'another compute unit price');
};

/**
 * Checks each instruction against the order. The caller refuses instructions that are left over.
 */
const checkOrder = (rest: KnownInstruction[], order: BuiltOrder, network: Network) => {
  const { mint } = network;
  switch (order.kind) {
    case 'settle': {
      const { source, authority, feeMicro, grossMicro, payoutAccount, reference } = order;
      require(network.delegateAuthorities.includes(
        authority,
      ), 'not a delegate authority of this environment');
      require(feeMicro >= 0n && feeMicro < grossMicro, 'the fee leaves nothing');
      require(source !== payoutAccount && source !== network.feeAccount, 'a payment to oneself');
      // Accrued fees are paid to the fee wallet, and carry no fee.
      require((payoutAccount === network.feeAccount) === order.paysFees, 'a payout to the fee wallet');
      require(!order.paysFees || feeMicro === 0n, 'a fee of fees');
      checkBudget(rest, network.computeBudget);
      checkCreation(rest, network, order.payout, payoutAccount);
      const from = { source, authority };
      const netMicro = grossMicro - feeMicro;
      checkTransfer(rest, mint, { ...from, destination: payoutAccount, amountMicro: netMicro, reference });
      if (feeMicro > 0n) {
        const fee = { destination: network.feeAccount, amountMicro: feeMicro, reference: null };
        checkTransfer(rest, mint, { ...from, ...fee });
      }
      return;
    }
    case 'fund': {
      checkCreation(rest, network, order.owner, order.destination);
      const minting = shift(rest, 'mintTo');
      require(minting.mint === mint && minting.destination === order.destination, 'another destination');
      require(minting.authority === network.fundingAuthority, 'another authority');
      require(minting.amountMicro === order.amountMicro, 'another amount');
      require(minting.reference === order.reference, 'another reference');
      return;
    }
    case 'createTokenAccount':
      require(rest[0]?.name === 'createTokenAccount', 'expected createTokenAccount');
      checkCreation(rest, network, order.owner, order.tokenAccount);
      return;
    case 'delegation': {
      const { owner, tokenAccount, authority, allowanceMicro } = order;
      if (allowanceMicro === null) {
        const revocation = shift(rest, 'revoke');
        require(revocation.tokenAccount === tokenAccount &&
          revocation.owner === owner, 'another token account');
        return;
      }
      require(network.delegateAuthorities.includes(
        authority,
      ), 'not a delegate authority of this environment');
      checkCreation(rest, network, owner, tokenAccount);
      const approval = shift(rest, 'approveChecked');
      require(approval.mint === mint && approval.decimals === USDC_DECIMALS, 'another mint');
      require(approval.tokenAccount === tokenAccount && approval.owner === owner, 'another token account');
      require(approval.delegate === authority, 'another delegate');
      require(approval.amountMicro === allowanceMicro, 'another amount');
      return;
    }
    case 'withdrawal':
    case 'refund': {
      const { owner, source, payee, destination, amountMicro, reference } = order;
      require(!platformAddresses(network).includes(owner), 'a transfer from an address of the platform');
      require(source !== destination, 'a transfer to oneself');
      require(!platformAddresses(network).includes(destination), 'a transfer to the platform');
      if (payee !== null) checkCreation(rest, network, payee, destination);
      checkTransfer(rest, mint, { source, authority: owner, destination, amountMicro, reference });
    }
  }
};

/** The signers of an order's transaction, the fee payer first. */
export const signersOf = (order: BuiltOrder, network: Network): string[] => {
  if (order.kind === 'createTokenAccount') return [network.feePayer];
  if (order.kind === 'settle') return [network.feePayer, order.authority];
  if (isUserSigned(order)) return [network.feePayer, order.owner];
  return [network.feePayer, network.fundingAuthority ?? ''];
};

/** The fee payer may pay rent. No other instruction may name it. */
const checkFeePayer = (message: PlainMessage, feePayer: string) => {
  for (const { program, accounts } of message.instructions) {
    const inside = accounts.filter(({ address }) => address === feePayer).length;
    const pays = program === PROGRAMS.tokenAccount && accounts[0]?.address === feePayer;
    require(inside === (pays ? 1 : 0), 'an instruction names the fee payer');
  }
};

/**
 * The accounts that may change: the order's token accounts, the fee payer and, for a fund, the
 * mint.
 */
const changeableAccounts = (order: BuiltOrder, { feePayer, feeAccount, mint }: Network): string[] => {
  switch (order.kind) {
    case 'settle':
      return [feePayer, order.source, order.payoutAccount, feeAccount];
    case 'fund':
      return [feePayer, order.destination, mint];
    case 'withdrawal':
    case 'refund':
      return [feePayer, order.source, order.destination];
    case 'delegation':
    case 'createTokenAccount':
      return [feePayer, order.tokenAccount];
  }
};

/**
 * Checks message bytes against an order.
 * @throws PolicyError unless they have exactly the order's signers, instructions, accounts and
 *   amounts, in their order
 */
export const checkPolicy = (bytes: Uint8Array, order: BuiltOrder, network: Network): PlainMessage => {
  try {
    const message = decodeMessage(bytes);
    const signers = signersOf(order, network);
    require(new Set(signers).size === signers.length, 'the fee payer is never an authority');
    require(message.signers.join() === signers.join(), 'other signers');
    checkFeePayer(message, network.feePayer);
    const rest = message.instructions.map(readInstruction);
    checkOrder(rest, order, network);
    require(rest.length === 0, 'an instruction too many');
    const changing = changeableAccounts(order, network);
    require(message.writable.every((key) => changing.includes(key)), 'another account is writable');
    return message;
  } catch (error) {
    throw error instanceof PolicyError ? error : new PolicyError((error as Error).message);
  }
};
