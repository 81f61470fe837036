import type { ReactNode } from 'react';
import type { QuoteClaims } from '../../../../sdk/src/checks/tokens.ts';
import { ApiError, NoAnswerError, PaymentUndecidedError } from '../../../../sdk/src/main.ts';
import { Badge, Code, ErrorNotice, Money, Notice, Properties, Section, Stack, Time } from '../../ui/index.ts';
import { isWalletProblem, WalletNotice } from '../own-wallet.tsx';
import { answerText, curlText, type Exchanged, requestText, type Secrets } from '../sales/http-text.ts';
import { RESOURCE, type Step, type Trial } from './trial.ts';

/** The steps in order: name, explanation, and the label of the next button. */
export const STEPS: readonly { run: keyof Trial; title: string; about: ReactNode; next: string }[] = [
  {
    run: 'ask',
    title: '1. A buyer calls and gets the price',
    about: (
      <>
        The middleware requests a quote for <code>{RESOURCE}</code> from the API and answers 402. Only the
        signed token counts. The figures next to it are for display.
      </>
    ),
    next: 'Call without paying',
  },
  {
    run: 'verify',
    title: '2. The buyer checks the quote',
    about: 'Verified with the published keys: who is paid, how much, for which address, until when.',
    next: 'Check the quote',
  },
  {
    run: 'settle',
    title: '3. The buyer pays',
    about:
      'Settle pays once on chain and answers when the payment is confirmed. The attempt id makes retries safe.',
    next: 'Pay',
  },
  {
    run: 'call',
    title: '4. The buyer calls again, with the payment',
    about:
      'The same request with two more headers. The middleware verifies the token, redeems the payment and delivers.',
    next: 'Call again',
  },
  {
    run: 'redeem',
    title: '5. The vendor redeems once',
    about:
      'The middleware redeemed in step 4. A second redeem answers “replayed”: deliver nothing then. A buyer who retries gets the stored delivery.',
    next: 'Try to redeem twice',
  },
];

/** A completed step: requests, answers and errors. */
export const TakenStep = ({
  step,
  of: { run, title, about },
  secrets,
}: {
  step: Step;
  of: (typeof STEPS)[number];
  secrets: Secrets;
}) => {
  // API calls are collapsed unless they are the subject of the step.
  const isOpen = step.exchanged.length === 0 || step.problem !== null || run === 'redeem';
  return (
    <Section
      title={title}
      about={about}
      actions={
        <Badge
          state={step.problem === null ? 'done' : 'failed'}
          tone={step.problem === null ? 'good' : 'bad'}
        />
      }
    >
      <Stack>
        {step.problem !== null && <Problem of={step.problem} />}
        {step.claims !== undefined && <Claims of={step.claims} />}
        {step.exchanged.map((each) => (
          <Exchange
            key={`${each.method} ${each.url}`}
            of={each}
            between="buyer and vendor"
            secrets={secrets}
          />
        ))}
        {step.api.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the recorded order never changes
          <details key={`${index} ${each.url}`} open={isOpen}>
            <summary>
              {each.method} {new URL(each.url).pathname} → {each.answer?.status ?? 'no answer'}
            </summary>
            <Exchange of={each} between="with the API" secrets={secrets} />
          </details>
        ))}
      </Stack>
    </Section>
  );
};

const Exchange = ({ of, between, secrets }: { of: Exchanged; between: string; secrets: Secrets }) => (
  <div className="columns">
    <Code
      label={`Request, ${between}`}
      text={requestText(of, secrets)}
      copy={curlText(of, secrets)}
      action="Copy as curl"
    />
    <Code label="Answer" text={answerText(of, secrets)} />
  </div>
);

const Claims = ({ of }: { of: QuoteClaims }) => (
  <Properties
    of={[
      ['Signature', <Badge key="s" state="valid, checked in this page" tone="good" />],
      ['Service', of.service_name],
      ['Amount', <Money key="a" micro={of.quote_amount} />],
      ['Fee included', <Money key="f" micro={of.fee_amount} />],
      ['For the address', <code key="r">{String(of.scope?.resource)}</code>],
      ['Paid to', <code key="p">{of.payout_address}</code>],
      ['Valid until', <Time key="t" at={of.expires_at} />],
    ]}
  />
);

const Problem = ({ of }: { of: unknown }) => {
  if (typeof of === 'string')
    return (
      <Notice tone="bad" title="This step failed">
        {of}
      </Notice>
    );
  if (of instanceof PaymentUndecidedError)
    return (
      <Notice tone="wait" title="Payment status unknown">
        Repeat the step: the same attempt never pays twice.
      </Notice>
    );
  if (!(of instanceof ApiError) && !(of instanceof NoAnswerError)) return <ErrorNotice error={of} />;
  return (
    <>
      <ErrorNotice error={of} />
      {isWalletProblem(of) && <WalletNotice>You need test USDC and a spending limit.</WalletNotice>}
    </>
  );
};
