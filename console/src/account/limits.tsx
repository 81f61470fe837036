import { type FormEvent, useState } from 'react';
import type { Input, Output } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../api/data.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../lib/money.ts';
import {
  AmountField,
  Button,
  ErrorNotice,
  Loading,
  Money,
  Properties,
  Row,
  Section,
  Stack,
  toast,
} from '../ui/index.ts';
import { LIMITS } from './texts.ts';

type Values = Output<'settlement.getAccountLimits'>;

/** What a sign-in may pay. A change needs a fresh sign-in, which `useAction` asks for. */
export const Limits = () => {
  const limits = useRead(['limits'], (client, options) => client.settlement.getAccountLimits({}, options));
  return (
    <Section title={LIMITS.title} about={LIMITS.about}>
      {limits.isPending && <Loading>Loading the limits…</Loading>}
      {limits.error !== null && <ErrorNotice error={limits.error} retry={limits.again} />}
      {limits.data !== undefined && <Form values={limits.data} />}
    </Section>
  );
};

/** An amount above zero in micro-units, or null. */
const amountOf = (text: string): string | null => {
  const micro = typedUsdc(text);
  return micro === null ? null : micro.toString();
};

const Form = ({ values }: { values: Values }) => {
  const [perPayment, setPerPayment] = useState(fieldUsdc(values.per_payment));
  const [daily, setDaily] = useState(fieldUsdc(values.daily));
  const change = useAction(
    (client, input: Input<'settlement.updateAccountLimits'>) => client.settlement.updateAccountLimits(input),
    { changes: [['limits'], ['security-events']], done: () => toast(LIMITS.saved) },
  );
  const [per_payment, per_day] = [amountOf(perPayment), amountOf(daily)];
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (per_payment !== null && per_day !== null) void change.run({ per_payment, daily: per_day });
  };
  return (
    <form onSubmit={save}>
      <Stack>
        <AmountField
          label={LIMITS.perPayment}
          value={perPayment}
          onChange={setPerPayment}
          error={per_payment === null ? NOT_AN_AMOUNT : null}
        />
        <AmountField
          label={LIMITS.daily}
          value={daily}
          onChange={setDaily}
          error={per_day === null ? NOT_AN_AMOUNT : null}
        />
        <Properties of={[[LIMITS.used, <Money key="used" micro={values.used_today} />]]} />
        <Row>
          <Button type="submit" busy={change.isBusy && 'Saving…'}>
            Save limits
          </Button>
        </Row>
        {change.error !== null && <ErrorNotice error={change.error} />}
      </Stack>
    </form>
  );
};
