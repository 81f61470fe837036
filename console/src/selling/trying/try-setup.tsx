import { useState } from 'react';
import { useAction } from '../../api/data.ts';
import type { Service } from '../../payments/select-service.tsx';
import { Button, ConfirmDialog, Copyable, Notice, Select, Stack, TextField } from '../../ui/index.ts';
import { OwnWallet } from '../own-wallet.tsx';

/** The service key: pasted, or created by a rotation. It stays in the memory of this page. */
export const ServiceKey = ({
  service,
  value,
  onChange,
  isDisabled,
}: {
  service: Service;
  value: string;
  onChange: (key: string) => void;
  isDisabled: boolean;
}) => {
  const [asking, setAsking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const rotate = useAction(
    (client, _: undefined) => client.identity.rotateServiceKey({ service_id: service.service_id }),
    {
      changes: [['services']],
      done: (answer) => {
        if (!('api_key' in answer)) return;
        setMade(answer.api_key);
        onChange(answer.api_key);
      },
    },
  );
  return (
    <>
      <TextField
        label="Service key"
        hint="Kept in this page’s memory only and sent to this server only."
        type="password"
        autoComplete="off"
        placeholder="vendor_test_…"
        value={value}
        onChange={onChange}
        isDisabled={isDisabled}
        error={
          value !== '' && !value.startsWith('vendor_test_')
            ? 'Test service keys start with vendor_test_.'
            : null
        }
      />
      {made !== null && made === value ? (
        <Notice tone="good" title="New service key">
          <Copyable label="the new key" text={made} />
          <p>Copy it if you need it later: it is gone when you close this page.</p>
        </Notice>
      ) : (
        <div>
          <Button size="small" isDisabled={isDisabled} onPress={() => setAsking(true)}>
            Create a new key
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={`Create a new key of “${service.name}”?`}
        confirm="Create the key"
        doing="Creating the key…"
        danger={false}
        isOpen={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => rotate.runOrThrow(undefined)}
      >
        The current key works for {service.key_grace_hours} more hours, and an older one stops working at
        once. If one of your servers sells this service, give it the new key.
      </ConfirmDialog>
    </>
  );
};

export type PayBy = 'account' | 'delegate';

/** The buyer: this account with its own wallet, or a delegate key. */
export const Payer = ({
  by,
  onBy,
  delegateKey,
  onDelegateKey,
  price,
  payTo,
  isDisabled,
}: {
  by: PayBy;
  onBy: (by: PayBy) => void;
  delegateKey: string;
  onDelegateKey: (key: string) => void;
  price: bigint;
  /** The payout address of the service. */
  payTo: string;
  isDisabled: boolean;
}) => (
  <Stack>
    <Select
      label="Paid by"
      value={by}
      onChange={onBy}
      isDisabled={isDisabled}
      options={[
        ['account', 'my own wallet'],
        ['delegate', 'an agent key'],
      ]}
    />
    {by === 'delegate' ? (
      <TextField
        label="Agent key"
        hint="Kept in this page’s memory only."
        type="password"
        autoComplete="off"
        placeholder="dk_test_…"
        value={delegateKey}
        onChange={onDelegateKey}
        isDisabled={isDisabled}
        error={
          delegateKey !== '' && !delegateKey.startsWith('dk_test_')
            ? 'Test agent keys start with dk_test_.'
            : null
        }
      />
    ) : (
      <OwnWallet price={price} payTo={payTo} />
    )}
  </Stack>
);
