import { useEffect, useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { CreateServiceDialog } from '../selling/create-service.tsx';
import { AllowanceDialog } from '../wallet/allowance.tsx';
import { MakeDialog } from '../wallet/create-wallet.tsx';
import type { Wallet } from '../wallet/signing.tsx';
import { testAddress } from '../wallet/test-address.ts';

export type CreatedService = Output<'identity.createService'>;

/** 50 USDC: enough for a thousand calls of a usual price. */
const ALLOWANCE = 50_000_000n;

type Props = {
  step: 'wallet' | 'allowance' | 'service';
  wallet: Wallet | undefined;
  isTest: boolean;
  onClose: () => void;
  onWallet: (walletId: string) => void;
  onService: (created: CreatedService) => void;
};

/** The dialog of a step. It is a file of its own, so that the home page loads without it. */
const StepDialog = ({ step, wallet, isTest, onClose, onWallet, onService }: Props) => {
  switch (step) {
    case 'wallet':
      return <MakeDialog onClose={onClose} onMade={onWallet} />;
    case 'allowance':
      return wallet && <AllowanceDialog wallet={wallet} allowance={ALLOWANCE} onClose={onClose} />;
    case 'service':
      return isTest ? (
        <FirstService onClose={onClose} onCreated={onService} />
      ) : (
        <CreateServiceDialog onClose={onClose} onCreated={onService} />
      );
  }
};
export default StepDialog;

/** The first service has a test address, because a wallet cannot pay itself. */
const FirstService = ({ onClose, onCreated }: { onClose: () => void; onCreated: Props['onService'] }) => {
  const [payout, setPayout] = useState<string | null>(null);
  useEffect(() => void testAddress().then(setPayout), []);
  if (payout === null) return null;
  return (
    <CreateServiceDialog
      first={{ name: 'My first API', price: '0.05', payout }}
      onClose={onClose}
      onCreated={onCreated}
    />
  );
};
