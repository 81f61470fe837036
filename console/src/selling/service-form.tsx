import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { Input, Output } from '../../../sdk/src/main.ts';
import { useItems } from '../api/data.ts';
import { formatDuration, parseWhole } from '../lib/duration.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../lib/money.ts';
import { AmountField, Columns, ErrorNotice, Select, Stack, Switch, TextField } from '../ui/index.ts';
import { nameOf } from '../wallet/select-wallet.tsx';
import { belowFee, type Fee, received } from './sales/price-fees.ts';
import { useFees } from './sales/use-fees.ts';

export type Service = Output<'identity.getService'>;
/** The fields of a service that are sent. */
export type Settings = Omit<Required<Input<'identity.createService'>>, 'allow_off_curve'> & {
  allow_off_curve?: true;
};

type Typed = Record<'name' | 'price' | 'payout' | 'window' | 'grace', string>;
type Draft = Typed & { offCurve: boolean };

/** What the form of a new service has already. */
export type FirstDraft = Pick<Typed, 'name' | 'price' | 'payout'>;

const draftOf = (service?: Service, first?: FirstDraft): Draft => ({
  name: service?.name ?? first?.name ?? '',
  price: service === undefined ? (first?.price ?? '') : fieldUsdc(service.price),
  payout: service?.payout_address ?? first?.payout ?? '',
  window: String(service?.redeem_window_seconds ?? 900),
  grace: String(service?.key_grace_hours ?? 24),
  offCurve: false,
});

type Wrong = Partial<Record<keyof Typed, string | undefined>>;
/**
 * Parses a draft into settings or errors. The API validates addresses, because it reads the chain.
 * @param fee the fee of the price and what it leaves, undefined until the API has answered
 */
const readDraft = (draft: Draft, fee: Fee | undefined): { settings: Settings } | { wrong: Wrong } => {
  const price = typedUsdc(draft.price);
  const window = parseWhole(draft.window, 30, 604_800);
  const grace = parseWhole(draft.grace, 0, 168);
  const payout = draft.payout.trim();
  const wrong: Wrong = {
    ...(draft.name.trim() === '' && { name: 'Enter a name.' }),
    ...(price === null && { price: NOT_AN_AMOUNT }),
    ...(fee?.net_amount === '0' && { price: belowFee(fee) }),
    ...(!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(payout) && {
      payout: 'A Solana address: 32 to 44 characters.',
    }),
    ...(window === null && { window: 'Whole seconds, 30 to 604,800 (7 days).' }),
    ...(grace === null && { grace: 'Whole hours, 0 to 168.' }),
  };
  if (Object.keys(wrong).length > 0 || price === null || window === null || grace === null) return { wrong };
  return {
    settings: {
      name: draft.name.trim(),
      price: price.toString(),
      payout_address: payout,
      redeem_window_seconds: window,
      key_grace_hours: grace,
      ...(draft.offCurve && { allow_off_curve: true }),
    },
  };
};

/**
 * The settings of a new or existing service. Invalid settings show errors and are not sent.
 * @param actions the buttons below, of which one submits
 */
export const ServiceForm = ({
  service,
  first,
  error,
  onSend,
  actions,
}: {
  service?: Service;
  first?: FirstDraft | undefined;
  error: unknown;
  onSend: (settings: Settings) => void;
  actions: ReactNode;
}) => {
  const [draft, setDraft] = useState(() => draftOf(service, first));
  const [wrong, setWrong] = useState<Wrong>({});
  const fee = useFees([draft.price]).get(String(typedUsdc(draft.price)));
  const typed = (field: keyof Typed) => ({
    value: draft[field],
    error: wrong[field] ?? null,
    onChange: (value: string) => {
      setDraft({ ...draft, [field]: value });
      setWrong({ ...wrong, [field]: undefined });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = readDraft(draft, fee);
    if ('wrong' in read) setWrong(read.wrong);
    else onSend(read.settings);
  };
  const seconds = parseWhole(draft.window, 0, 604_800);
  const isOther = draft.payout.trim() !== (service?.payout_address ?? first?.payout ?? '');
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Columns>
          <TextField
            {...typed('name')}
            label="Name"
            hint="Buyers see it on their receipts."
            maxLength={80}
            isRequired
          />
          <AmountField
            {...typed('price')}
            error={wrong.price ?? (fee?.net_amount === '0' ? belowFee(fee) : null)}
            label="Price per call"
            hint={
              fee === undefined || fee.net_amount === '0'
                ? 'The default. Your code can quote other amounts.'
                : received(fee)
            }
            isRequired
          />
        </Columns>
        <Payout {...typed('payout')} first={first?.payout} />
        <Advanced
          typed={typed}
          isWrong={wrong.window !== undefined || wrong.grace !== undefined}
          seconds={seconds}
        >
          {isOther && draft.payout.trim() !== '' && (
            <Switch
              isSelected={draft.offCurve}
              onChange={(offCurve) => setDraft({ ...draft, offCurve })}
              hint="refunds are signed in its app"
            >
              Payouts go to a multisig
            </Switch>
          )}
        </Advanced>
        {error !== null && <ErrorNotice error={error} />}
        {actions}
      </Stack>
    </form>
  );
};

/** What most services leave as it is. An error inside opens it, and it stays open. */
const Advanced = ({
  typed,
  isWrong,
  seconds,
  children,
}: {
  typed: (field: keyof Typed) => Pick<TextFieldProps, 'value' | 'error' | 'onChange'>;
  isWrong: boolean;
  /** The redeem window, if it is a number. */
  seconds: number | null;
  children: ReactNode;
}) => {
  const [wasWrong, setWasWrong] = useState(false);
  if (isWrong && !wasWrong) setWasWrong(true);
  return (
    <details open={wasWrong || undefined}>
      <summary>Advanced</summary>
      <Stack>
        <Columns>
          <TextField
            {...typed('window')}
            label="Redeem window"
            hint={`How long your server may redeem a payment${seconds === null ? '' : `: ${formatDuration(seconds)}`}.`}
            suffix="seconds"
            numeric
          />
          <TextField
            {...typed('grace')}
            label="Old key stays valid for"
            hint="After a rotation."
            suffix="hours"
            numeric
          />
        </Columns>
        {children}
      </Stack>
    </details>
  );
};
type TextFieldProps = Parameters<typeof TextField>[0];

const ANOTHER = 'another';

/** The payout address: one of the account's wallets, or another address. */
const Payout = ({
  value,
  error,
  onChange,
  first,
}: {
  value: string;
  error: string | null;
  onChange: (address: string) => void;
  /** The address that a new service has already. */
  first: string | undefined;
}) => {
  const wallets = useItems(['wallets', 'all'], (client, cursor, options) =>
    client.wallet.list({ cursor, limit: '100' }, options),
  ).data;
  const [isNew] = useState(value === '');
  const [isTyped, setTyped] = useState(false);
  const options: [string, string][] = [
    ...(first === undefined ? [] : [[first, 'A test address'] as [string, string]]),
    ...wallets.map((wallet): [string, string] => [wallet.address, nameOf(wallet)]),
    [ANOTHER, 'Other address'],
  ];
  const isOwn = options.some(([address]) => address === value);
  const [own] = wallets;
  // The first wallet is the address of a new service until the user chooses another.
  useEffect(() => {
    if (isNew && value === '' && !isTyped && own !== undefined) onChange(own.address);
  });
  const choose = (chosen: string) => {
    setTyped(chosen === ANOTHER);
    onChange(chosen === ANOTHER ? '' : chosen);
  };
  return (
    <>
      {options.length > 1 && (
        <Select
          label="Paid to"
          value={isOwn && !isTyped ? value : ANOTHER}
          onChange={choose}
          options={options}
          hint={
            value === first
              ? 'A test address lets your own wallet pay this service. Its payments cannot be refunded.'
              : 'Receives your sales and signs refunds.'
          }
        />
      )}
      {(!isOwn || isTyped || options.length === 1) && (
        <TextField
          value={value}
          error={error}
          onChange={onChange}
          label="Payout address"
          hint="The Solana wallet that receives your sales and signs refunds."
          spellCheck="false"
          autoComplete="off"
          isRequired
        />
      )}
    </>
  );
};
