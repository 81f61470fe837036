import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { Button, ConfirmDialog, toast } from '../ui/index.ts';
import type { Delegate } from './delegates/delegate-form.ts';

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
          `${failed.join(', ')} could not be paused. Try again, or revoke the spending limit of the wallet.`,
        );
    },
    { changes: [['delegates']], done: () => toast('All agents are paused.') },
  );
  if (running === 0) return null;
  return (
    <>
      <Button variant="quiet-danger" onPress={() => setAsking(true)}>
        Pause all
      </Button>
      <ConfirmDialog
        title="Pause all agents?"
        confirm="Pause all"
        doing={`${done} paused…`}
        isOpen={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => stop.runOrThrow(undefined)}
      >
        New payments of every agent are refused until you resume it. Keys and limits stay. Payments that were
        accepted are completed.
      </ConfirmDialog>
    </>
  );
};
