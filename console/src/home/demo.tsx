import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { Button, ErrorNotice, Notice, Row, toast } from '../ui/index.ts';
import type { Wallet } from '../wallet/signing.tsx';
import { CHANGES } from './changes.ts';
import { HOME } from './texts.ts';

/** What the demo data takes from the wallet at most, in micro-units. */
const DEMO_COST = 2_000_000n;

/** Fills the account with services, an agent and payments, so that every page has content. */
export const DemoData = ({ wallet }: { wallet: Wallet | undefined }) => {
  const [progress, setProgress] = useState('');
  const fill = useAction(
    async (client, wallet_id: string) => {
      const { makeDemoData } = await import('./demo-data.ts');
      await makeDemoData(client, wallet_id, (done, all) => setProgress(`${done} of ${all} done…`));
    },
    { changes: CHANGES, done: () => toast('Demo data added.') },
  );
  const canPay =
    wallet !== undefined &&
    BigInt(wallet.balance) >= DEMO_COST &&
    BigInt(wallet.delegation.allowance) >= DEMO_COST;
  return (
    <div className="demo">
      <p className="quiet">
        {HOME.demoAbout}
        {!canPay && ' You need a wallet with test USDC and a spending limit first.'}
      </p>
      <Row>
        <Button
          size="small"
          isDisabled={!canPay}
          busy={fill.isBusy && progress}
          onPress={() => void fill.run(wallet!.wallet_id)}
        >
          {HOME.demo}
        </Button>
      </Row>
      {fill.error !== null && <ErrorNotice error={fill.error} />}
      {fill.isBusy && (
        <Notice>Stay on this page until it is done. Each payment runs on the test chain.</Notice>
      )}
    </div>
  );
};
