import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { session } from '../api/store.ts';
import { Button, ErrorNotice, LinkButton, toast } from '../ui/index.ts';
import { CHANGES } from './changes.ts';
import type { CreatedService } from './step-dialogs.tsx';
import type { Role } from './steps.ts';
import { ACTION_TEXTS } from './texts.ts';

/** A valid access token. A read by the session's own client renews an expired one. */
const freshAccessToken = async (): Promise<string> => {
  await session.get().client.identity.getAccount();
  return session.accessToken() ?? '';
};

/**
 * Makes the first payment. A vendor pays the service that was created on this page, whose key is
 * still known here, and a buyer a demo API.
 */
export const PayButton = ({ role, sold }: { role: Role; sold: CreatedService | null }) => {
  const [doing, setDoing] = useState('');
  const key = sold !== null && 'api_key' in sold ? sold.api_key : null;
  const isVendor = role === 'sell';
  const pay = useAction(
    async (client) => {
      if (!isVendor) {
        setDoing('Paying…');
        const { payDemo } = await import('./demo-data.ts');
        return payDemo(client);
      }
      const { payOnce } = await import('./first-payment.ts');
      return payOnce({ service: sold!, serviceKey: key!, accessToken: freshAccessToken, onStep: setDoing });
    },
    { changes: CHANGES, done: () => toast('Paid and delivered.') },
  );
  if (isVendor && key === null)
    return (
      <LinkButton to="/try" size="small" variant="primary">
        Try it
      </LinkButton>
    );
  return (
    <>
      <Button
        variant="primary"
        size="small"
        busy={pay.isBusy && doing}
        onPress={() => void pay.run(undefined)}
      >
        {ACTION_TEXTS.pay}
      </Button>
      {pay.error !== null && <ErrorNotice error={pay.error} />}
    </>
  );
};
