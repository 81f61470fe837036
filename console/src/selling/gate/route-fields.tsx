import { typedUsdc } from '../../lib/money.ts';
import { AmountField, Button, Columns, Row, Select, Stack, Switch, TextField } from '../../ui/index.ts';
import { belowFee, type Fee, received } from '../sales/price-fees.ts';
import type { CostBy, Faults, Kind, RouteDraft } from './draft.ts';

const KINDS: readonly (readonly [Kind, string])[] = [
  ['fixed', 'A price for each call'],
  ['prepaid', 'A price for a pack of calls'],
  ['metered', 'By use, up to a ceiling'],
  ['free', 'Free'],
];

const COSTS: readonly (readonly [CostBy, string])[] = [
  ['units', 'Units that a header of its answer names'],
  ['price', 'The price that a header of its answer names'],
  ['same', 'The same each time'],
];

type Fields = {
  route: RouteDraft;
  /** The error of a field, if there is one. */
  fault: (field: keyof RouteDraft) => string | null;
  change: (changed: Partial<RouteDraft>) => void;
};

/** One route of a gate. The first that matches counts, so it can be moved up. */
export const RouteFields = ({
  at,
  faults,
  fees,
  isNew,
  onUp,
  onRemove,
  ...own
}: Omit<Fields, 'fault'> & {
  at: number;
  faults: Faults;
  fees: ReadonlyMap<string, Fee>;
  isNew: boolean;
  onUp: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}) => {
  const { route, change } = own;
  const fault = (field: keyof RouteDraft) => faults[`routes.${at}.${field}`] ?? null;
  const name = `route ${at + 1}`;
  return (
    <fieldset className="gate-route">
      <legend>Route {at + 1}</legend>
      <Stack>
        <div className="gate-match">
          <TextField
            label="Methods"
            autoFocus={isNew}
            hint="GET, or GET,POST, or * for all. Others of this path get 405."
            value={route.methods}
            onChange={(methods) => change({ methods })}
            error={fault('methods')}
            spellCheck="false"
            autoComplete="off"
          />
          <TextField
            label="Path"
            hint=":name or * match one segment; ** at the end matches the rest."
            value={route.path}
            onChange={(path) => change({ path })}
            error={fault('path')}
            spellCheck="false"
            autoComplete="off"
          />
          <Select label="Charge" value={route.kind} onChange={(kind) => change({ kind })} options={KINDS} />
        </div>
        {(route.kind === 'fixed' || route.kind === 'prepaid') && (
          <Priced {...own} fault={fault} fee={fees.get(String(typedUsdc(route.price)))} />
        )}
        {route.kind === 'metered' && (
          <Metered {...own} fault={fault} fee={fees.get(String(typedUsdc(route.max)))} />
        )}
        {(onUp ?? onRemove) !== undefined && (
          <Row>
            {onUp !== undefined && (
              <Button size="small" variant="quiet" aria-label={`Move up: ${name}`} onPress={onUp}>
                Move up
              </Button>
            )}
            {onRemove !== undefined && (
              <Button size="small" variant="quiet-danger" aria-label={`Remove: ${name}`} onPress={onRemove}>
                Remove
              </Button>
            )}
          </Row>
        )}
      </Stack>
    </fieldset>
  );
};

/** What a vendor gets of a price. What leaves nothing is the error of the field. */
const feeHint = (fee: Fee | undefined, otherwise: string): string =>
  fee === undefined || fee.net_amount === '0' ? otherwise : received(fee);

const Priced = ({ route, fault, change, fee }: Fields & { fee: Fee | undefined }) => {
  const isPack = route.kind === 'prepaid';
  return (
    <Columns>
      <AmountField
        label={isPack ? 'Price of a pack' : 'Price of a call'}
        hint={isPack && fee !== undefined && fee.net_amount !== '0' ? packHint(fee) : feeHint(fee, '')}
        value={route.price}
        onChange={(price) => change({ price })}
        error={fault('price')}
      />
      {isPack && (
        <TextField
          label="Calls in a pack"
          hint="One payment buys so many calls to one address."
          value={route.units}
          onChange={(units) => change({ units })}
          error={fault('units')}
          numeric
        />
      )}
    </Columns>
  );
};
const packHint = (fee: Fee): string => received(fee).replace('per call', 'per pack');

const Metered = ({ route, fault, change, fee }: Fields & { fee: Fee | undefined }) => {
  const { costBy, isTab } = route;
  const amount = (field: 'max' | 'price' | 'unitPrice' | 'perCall') => ({
    value: route[field],
    onChange: (value: string) => change({ [field]: value }),
    error: fault(field),
  });
  return (
    <>
      <Columns>
        <AmountField
          {...amount('max')}
          label="Ceiling"
          hint="The most a buyer pays. It must exceed the fee."
          error={fee?.net_amount === '0' ? belowFee(fee) : fault('max')}
        />
        <Select
          label="A call costs"
          value={costBy}
          onChange={(next) => change({ costBy: next })}
          options={COSTS}
        />
      </Columns>
      <Columns>
        {costBy === 'same' ? (
          <AmountField {...amount('price')} label="Price of a call" />
        ) : (
          <TextField
            label="Header of the answer"
            hint={
              costBy === 'units'
                ? 'Your API sets it: X-Tokens: 320. A trailer works too.'
                : 'Your API sets it: X-Price: $0.05. A trailer works too.'
            }
            value={route.header}
            onChange={(header) => change({ header })}
            error={fault('header')}
            spellCheck="false"
            autoComplete="off"
          />
        )}
        {costBy === 'units' && <AmountField {...amount('unitPrice')} label="Price of a unit" />}
        {isTab && costBy !== 'same' && (
          <AmountField
            {...amount('perCall')}
            label="Most that a call can cost"
            hint="The calls of a tab share its ceiling."
          />
        )}
      </Columns>
      <Switch
        isSelected={isTab}
        onChange={(next) => change({ isTab: next })}
        hint="one authorization for many calls, one payment"
      >
        Tab
      </Switch>
    </>
  );
};
