import { useState } from 'react';
import { useSession } from '../api/use-session.tsx';
import { Button, Copyable, Section, Stack } from '../ui/index.ts';
import { QrCode } from '../ui/qr.tsx';
import { TestMoneyDialog } from '../wallet/allowance.tsx';
import { ForWallet, nameOf, type useWalletChoice, WalletSelect } from '../wallet/select-wallet.tsx';

/** The address of the wallet, for whoever has USDC already. */
export const DepositAddress = ({ of: chosen }: { of: ReturnType<typeof useWalletChoice> }) => {
  const { environment } = useSession();
  const [funding, setFunding] = useState(false);
  const isTest = environment === 'test';
  return (
    <Section title="Send USDC on Solana">
      <ForWallet of={chosen} none="No wallet for a deposit yet">
        {(wallet) => (
          <Stack>
            {chosen.wallets.data.length > 1 && (
              <WalletSelect
                label="To"
                wallets={chosen.wallets.data}
                value={wallet}
                onChange={chosen.choose}
              />
            )}
            <div className="deposit-address">
              <QrCode text={wallet.address} label={`QR code of the address of ${nameOf(wallet)}`} />
              <Stack>
                <Copyable block text={wallet.address} label={`address of ${nameOf(wallet)}`} />
                <p className="quiet">
                  {isTest
                    ? 'Test mode: send test USDC only. Real USDC sent here is lost.'
                    : 'Send USDC on the Solana network only. Other coins and networks do not arrive.'}{' '}
                  The balance updates within a minute.
                </p>
                {isTest && (
                  <div>
                    <Button size="small" onPress={() => setFunding(true)}>
                      Get test money
                    </Button>
                  </div>
                )}
              </Stack>
            </div>
            {funding && <TestMoneyDialog wallet={wallet} onClose={() => setFunding(false)} />}
          </Stack>
        )}
      </ForWallet>
    </Section>
  );
};
