import { type Event, next } from '../../services/settlement/domain/settlement.ts';
import type { SettlementRow } from '../../services/settlement/store/settlements.ts';
import { createOutbox, EPOCH, type Model } from './database.ts';
import type { World } from './world.ts';

export type Settlement = SettlementRow & {
  holding: boolean;
  generation: number;
  drive: number;
  progress_at: number;
  issued_at: number | null;
  expires_at: string;
};
export type Payer = {
  wallet_id: string;
  account_id: string;
  owner: string;
  authority: string;
  balance: bigint;
  allowance: bigint;
  as_of_slot: bigint;
  held: bigint;
};

const STALLED_MS = { pending: 15_000, confirmed: 45_000 };

export type SettlementTables = ReturnType<typeof createSettlementTables>;

/**
 * The tables of settlement with the guards of services/settlement/store. States move by the real transition table;
 * what a statement sees of other rows is as old as its snapshot, which is where races are decided by the unique indexes.
 */
export const createSettlementTables = (world: World) => {
  const settlements = new Map<string, Settlement>();
  const payers = new Map<string, Payer>();
  const outbox = createOutbox(world);
  const { now, random } = world;
  /** When each row became visible: a snapshot may be from before. */
  const insertedAt = new Map<string, number>();
  const rows = () => [...settlements.values()];
  const appNow = () => EPOCH + now();

  const show = (row: Settlement | undefined): unknown[] =>
    row === undefined
      ? []
      : [{ ...row, elapsed: row.redeem_expires_at !== null && row.redeem_expires_at <= appNow() }];
  const findAttempt = (accountId: string, attemptId: string) =>
    rows().find((row) => row.account_id === accountId && row.payment_attempt_id === attemptId);

  const accept = (values: readonly unknown[]): unknown[] => {
    const [accountId, attemptId, quoteId, walletId, expiresAt, gross] = values as [
      string,
      string,
      string,
      string,
      string,
      bigint,
    ];
    const [settlementId, , , delegateId, , , quoteToken, , serviceId, , fee, windowSeconds] = values.slice(
      7,
    ) as [string, 0, 0, null, 0, 0, string, 0, string, 0, bigint, number];
    const snapshot = now() - random.between(0, 30);
    const visible = (row: Settlement) => insertedAt.get(row.settlement_id)! <= snapshot;
    const known = rows().some(
      (row) => row.account_id === accountId && row.payment_attempt_id === attemptId && visible(row),
    );
    const taken = rows().some((row) => row.quote_id === quoteId && row.status !== 'failed' && visible(row));
    // Locked, so the newest version.
    const payer = payers.get(walletId);
    const late = world.off === 'attempt looked up first';
    const held = world.off === 'conditional holds' ? 0n : (payer?.held ?? 0n);
    const verdict = (() => {
      if (known && !late) return 'known';
      if (taken) return 'quote_taken';
      if (Date.parse(expiresAt) <= appNow()) return 'quote_expired';
      if (payer === undefined) return 'payer_unknown';
      if (payer.balance - held < gross) return 'balance_short';
      if (payer.allowance - held < gross) return 'allowance_short';
      return known ? 'known' : 'accepted';
    })();
    if (verdict !== 'accepted') return [{ verdict, outbox: [] }];
    const clash =
      findAttempt(accountId, attemptId) !== undefined ||
      (world.off !== 'unique quote index' &&
        rows().some((row) => row.quote_id === quoteId && row.status !== 'failed'));
    if (clash) return [{ verdict: 'raced', outbox: [] }];
    payer!.held += gross;
    insertedAt.set(settlementId, now());
    settlements.set(settlementId, {
      settlement_id: settlementId,
      account_id: accountId,
      payment_attempt_id: attemptId,
      delegate_id: delegateId,
      wallet_id: walletId,
      quote_id: quoteId,
      quote_token: quoteToken,
      service_id: serviceId,
      quote_amount: gross,
      fee_amount: fee,
      status: 'pending',
      chain_status: 'pending',
      tx_hash: null,
      superseded_tx_hashes: [],
      settlement_token: null,
      redeem_window_seconds: windowSeconds,
      redeem_expires_at: null,
      redeemed_at: null,
      redeem_id: null,
      failure_code: null,
      failure_message: null,
      created_at: appNow(),
      elapsed: false,
      holding: true,
      generation: 0,
      drive: 1,
      progress_at: now(),
      issued_at: null,
      expires_at: expiresAt,
    });
    world.call(settlementId, `S${settlements.size}(${attemptId})`);
    world.trace('settlements', `${settlementId} is accepted, held ${payer!.held} of ${payer!.balance}`);
    return [{ verdict, outbox: outbox.insert(values[21] as string) }];
  };

  /** Moves a row by the transition table. False: the event does not belong to its state. */
  const move = (row: Settlement, event: Event): boolean => {
    const to = next({ status: row.status, chain: row.chain_status }, event);
    if (to === null) return false;
    world.trace(
      'settlements',
      `${row.settlement_id}: ${row.status}/${row.chain_status} → ${to.status}/${to.chain}`,
    );
    row.status = to.status;
    row.chain_status = to.chain;
    // Redeem and expiry are no progress of the payment.
    if (event !== 'redeem' && event !== 'elapse') row.progress_at = now();
    return true;
  };

  const release = (row: Settlement, landedSlot: bigint | null) => {
    if (!row.holding) return;
    const payer = payers.get(row.wallet_id)!;
    const { quote_amount: gross } = row;
    payer.held -= gross;
    row.holding = false;
    if (landedSlot === null || payer.as_of_slot >= landedSlot) return;
    payer.balance = payer.balance > gross ? payer.balance - gross : 0n;
    payer.allowance = payer.allowance > gross ? payer.allowance - gross : 0n;
  };

  const landed = (values: readonly unknown[]): unknown[] => {
    const [id, chainStatus, generation, txHash, , issuedAt, redeemExpiresAt, token, , , slot, , json] =
      values as [
        string,
        'confirmed' | 'finalized',
        number,
        string,
        string,
        number,
        number,
        string,
        number,
        string,
        number,
        number,
        string,
      ];
    const row = settlements.get(id);
    if (row === undefined || row.generation > generation || row.status === 'failed') return [];
    const was = row.status;
    if (!move(row, chainStatus)) return [];
    release(row, BigInt(slot));
    row.generation = generation;
    if (was !== 'pending' && row.tx_hash !== null && row.tx_hash !== txHash)
      row.superseded_tx_hashes = [...row.superseded_tx_hashes, row.tx_hash];
    row.tx_hash = txHash;
    row.issued_at ??= issuedAt;
    row.redeem_expires_at ??= redeemExpiresAt;
    row.settlement_token ??= token;
    return was === 'pending' ? outbox.insert(json) : [];
  };

  const models: Model[] = [
    {
      text: /from settlements where account_id = \$1 and payment_attempt_id = \$2$/,
      run: ([account, attempt]) =>
        world.off === 'attempt looked up first' ? [] : show(findAttempt(account!, attempt!)),
    },
    {
      text: /from settlements where settlement_id = \$1( and service_id = \$2)?$/,
      run: ([id]) => show(settlements.get(id!)),
    },
    {
      text: /from payers\s+where wallet_id = \$1 and account_id = \$2/,
      run: ([id]) => (payers.has(id!) ? [{ ...payers.get(id!)! }] : []),
    },
    {
      text: /insert into payers/,
      run: (values) => {
        const [wallet_id, account_id, owner, authority, balance, allowance, slot] = values as unknown as [
          string,
          string,
          string,
          string,
          bigint,
          bigint,
          bigint,
        ];
        const known = payers.get(wallet_id);
        if (known === undefined) {
          const identity = { wallet_id, account_id, owner, authority };
          payers.set(wallet_id, { ...identity, balance, allowance, as_of_slot: slot, held: 0n });
        } else if (known.as_of_slot < slot) Object.assign(known, { balance, allowance, as_of_slot: slot });
        return [];
      },
    },
    { text: /with known as \(\s*select from settlements/, run: accept },
    {
      text: /update settlements set tx_hash = \$1, generation = \$2/,
      run: ([txHash, generation, id]) => {
        const row = settlements.get(id!);
        if (row?.status === 'pending' && row.generation < generation!)
          Object.assign(row, { tx_hash: txHash, generation, progress_at: now() });
        return [];
      },
    },
    { text: /select settlement_id, status, holding from settlements.*where was = 'pending'/s, run: landed },
    {
      text: /set chain_status = 'pending', holding = true/,
      run: ([id, generation]) => {
        const row = settlements.get(id!);
        if (row === undefined || row.holding || row.generation !== generation) return [];
        if (!move(row, 'reopened')) return [];
        row.holding = true;
        payers.get(row.wallet_id)!.held += row.quote_amount;
        return [];
      },
    },
    {
      text: /select settlement_id, status, holding from settlements.*where was <> 'pending'/s,
      run: (values) => {
        const [id, code, message, generation] = values as unknown as [string, string, string, number];
        const row = settlements.get(id);
        if (row === undefined || row.generation > generation) return [];
        const was = row.status;
        if (!move(row, 'failed')) return [];
        release(row, null);
        Object.assign(row, { failure_code: code, failure_message: message });
        return [
          ...(row.status === 'failed' ? outbox.insert(values[6]!) : []),
          ...(was === 'pending' ? [] : outbox.insert(values[7]!)),
        ];
      },
    },
    {
      text: /update settlements as s set drive = drive \+ 1/,
      run: ([limit]) => {
        if (world.off === 'sweeper of settlement') return [];
        const stalled = rows()
          .filter((row) => {
            if (row.chain_status !== 'pending' && row.chain_status !== 'confirmed') return false;
            return row.progress_at < now() - STALLED_MS[row.chain_status];
          })
          .sort((a, b) => a.progress_at - b.progress_at)
          .slice(0, limit!);
        return stalled.map((row) => {
          row.drive += 1;
          row.progress_at = now();
          world.trace('settlements', `${row.settlement_id} is driven again (${row.drive})`);
          const { owner, authority } = payers.get(row.wallet_id)!;
          return { ...row, owner, authority };
        });
      },
    },
    {
      text: /update settlements set status = 'redeemed'/,
      run: ([redeemId, id]) => {
        const row = settlements.get(id!);
        if (row === undefined || (row.redeem_expires_at ?? 0) <= appNow() || !move(row, 'redeem')) return [];
        Object.assign(row, { redeemed_at: appNow(), redeem_id: redeemId });
        return show(row);
      },
    },
    {
      text: /update settlements set status = 'expired'/,
      run: () => {
        const elapsed = rows().filter((row) => row.status === 'issued' && row.redeem_expires_at! <= appNow());
        for (const row of elapsed) move(row, 'elapse');
        return elapsed.map(({ settlement_id }) => ({ id: settlement_id }));
      },
    },
    { text: /^\s*insert into outbox/, run: ([json]) => outbox.insert(json!) },
  ];

  return { settlements, payers, outbox, models };
};
