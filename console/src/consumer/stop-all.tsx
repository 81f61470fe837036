import { useState } from 'react';
import { useAction } from '../lib/data.ts';
import { Button, ConfirmDialog, toast } from '../ui/index.ts';
import type { Delegate } from './delegate-form.ts';

/** Pauses every delegate that can pay: the first thing to do when something looks wrong. */
export const StopAll = ({ delegates }: { delegates: readonly Delegate[] }) => {
  const [asking, setAsking] = useState(false);
  const [done, setDone] = useState(0);
  const running = delegates.filter(({ status }) => status === 'active').length;
  const stop = useAction(
    async (client) => {
      setDone(0);
      const failed: string[] = [];
      // All of them, not only those that this page has loaded.
      for await (const { delegate_id, name, status } of client.identity.listDelegates({ limit: '100' })) {
        if (status !== 'active') continue;
        await client.identity.updateDelegate({ delegate_id, paused: true }).then(
          () => setDone((count) => count + 1),
          () => failed.push(`“${name}”`),
        );
      }
      if (failed.length > 0)
        throw new Error(
          `${failed.join(', ')} could not be paused. Try again, or revoke the wallet’s allowance.`,
        );
    },
    { changes: [['delegates']], done: () => toast('All delegates are paused.') },
  );
  if (running === 0) return null;
  return (
    <>
      <Button onPress={() => setAsking(true)}>Stop all</Button>
      <ConfirmDialog
        title="Stop all delegates?"
        confirm="Pause all of them"
        doing={`${done} paused…`}
        isOpen={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => stop.runOrThrow(undefined)}
      >
        Every delegate is paused at once: its new payments are refused until you resume it. Its key and limits
        stay. Payments that were accepted before are completed.
      </ConfirmDialog>
    </>
  );
};
