import type { Output } from '../../../sdk/src/main.ts';
import { useRead } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { Copyable, ErrorNotice, Loading, Notice, Section, Stack, Time } from '../ui/index.ts';
import { checkTokens, type TokenCheck } from './token-check.ts';

type Payment = Output<'settlement.get'>;

/** The result of this page's check of a payment's two signed tokens. */
export const ReceiptTokens = ({ payment }: { payment: Payment }) => {
  const { environment } = useSession();
  const { quote_token, settlement_token } = payment;
  const { data, error, isPending, again } = useRead(['tokens', payment], async (client, options) =>
    checkTokens(
      payment,
      environment,
      (await client.gateway.jwks({ environment, all: 'true' }, options)).keys,
    ),
  );
  if (payment.payment_attempt_id === undefined) {
    return (
      <Section title="Tokens">
        <p className="quiet">Only the buyer can see both tokens.</p>
      </Section>
    );
  }
  return (
    <Section title="Tokens" about="Verified here against the published keys.">
      {isPending ? (
        <Loading>Verifying both tokens…</Loading>
      ) : data === undefined ? (
        <Stack>
          <Notice tone="wait" title="Not checked">
            The published keys could not be loaded.
          </Notice>
          <ErrorNotice error={error} retry={again} />
        </Stack>
      ) : (
        <Stack>
          <TokenNotice
            what="quote"
            check={data.quote}
            environment={environment}
            absent="No quote token in this answer."
          />
          <TokenNotice
            what="settlement"
            check={data.settlement}
            environment={environment}
            absent="No settlement token yet: it is issued once the payment is confirmed."
          />
          <details className="no-print">
            <summary>Show tokens</summary>
            <Stack>
              {quote_token !== undefined && <Copyable block text={quote_token} label="the quote token" />}
              {settlement_token !== undefined && (
                <Copyable block text={settlement_token} label="the settlement token" />
              )}
            </Stack>
          </details>
        </Stack>
      )}
    </Section>
  );
};

const TokenNotice = ({
  what,
  check,
  environment,
  absent,
}: {
  what: 'quote' | 'settlement';
  check: TokenCheck<{ kid: string; issued_at: string }>;
  environment: string;
  absent: string;
}) => {
  if (check.is === 'absent') return <p className="quiet">{absent}</p>;
  if (check.is === 'bad') {
    return (
      <Notice tone="bad" title={`The ${what} token is not genuine`}>
        {WHY[check.why] ?? `It is ${check.why}.`}
      </Notice>
    );
  }
  const { claims, publicKey, disagree } = check;
  if (disagree.length > 0) {
    return (
      <Notice tone="bad" title={`The ${what} token is genuine, but this record was altered`}>
        {disagree.map((each) => (
          <p key={each}>{each}.</p>
        ))}
      </Notice>
    );
  }
  return (
    <Notice tone="good" title={`The ${what} token is genuine`}>
      Signed by the key <code>{claims.kid}</code> of the <strong>{environment}</strong> environment; it
      matches this record.
      <div className="notice-properties">
        <span>
          Signed <Time at={claims.issued_at} />
        </span>
        <span>
          Public key <code>{publicKey}</code>
        </span>
      </div>
    </Notice>
  );
};

/** The reasons of a failed check for users who do not write programs. */
const WHY: Record<string, string> = {
  'the token signature is invalid': 'The signature does not match the content: one of them was changed.',
  'the token’s key is not known': 'It names an unknown key.',
  'the token is malformed': 'It is not a token: a part is missing or extra.',
  'the token is not in canonical base64url': 'Its encoding was changed.',
};
