import { useSession } from '../api/use-session.tsx';
import { Button, Code, Copyable, Dialog, DialogActions, Notice, Time } from '../ui/index.ts';
import { startCommands, vendorProgram } from './trying/programs.ts';

/** The answer of a call that creates a key. A repeat after a lost answer has no key. */
type KeyAnswer = { api_key: string } | { secret_already_shown: true };

/** Shows a key once. Only the button closes it, so that it does not disappear by accident. */
export const NewKeyDialog = ({
  title,
  answer,
  service,
  previousEnds = null,
  onClose,
}: {
  title: string;
  answer: KeyAnswer;
  /** A new service, which is not in a server yet. */
  service?: { service_id: string; price: string };
  /** Until when the previous key works, if there is one. */
  previousEnds?: string | null;
  onClose: () => void;
}) => {
  const { environment } = useSession();
  return (
    <Dialog title={title} isOpen isFixed wide onClose={onClose}>
      {'api_key' in answer ? (
        <>
          <p>
            Your server uses this key to call the <strong>{environment}</strong> API. Keep it with your
            secrets: anyone who has it can quote and redeem in your name.
          </p>
          <Copyable block label="the key" text={answer.api_key} />
          <Notice tone="wait" title="You will not see this key again">
            If you lose it, rotate it.
          </Notice>
          {service !== undefined && <NextStep service={service} />}
        </>
      ) : (
        <Notice tone="wait" title="The key was created, but the answer with it was lost">
          It is not stored. Rotate the key to get a new one.
        </Notice>
      )}
      {previousEnds !== null && (
        <p>
          The old key works until <Time at={previousEnds} />.
        </p>
      )}
      <DialogActions>
        <Button variant="primary" onPress={onClose}>
          I saved it
        </Button>
      </DialogActions>
    </Dialog>
  );
};

/** The program with this service filled in. The key is no part of it. */
const NextStep = ({ service: { service_id, price } }: { service: { service_id: string; price: string } }) => {
  const { environment } = useSession();
  const filled = { baseUrl: location.origin, environment, serviceId: service_id, price };
  return (
    <details>
      <summary>Next: put it in your server</summary>
      <Code label="vendor.ts" language="typescript" text={vendorProgram('express', filled)} />
      <Code label="Start and call" language="bash" text={startCommands('express', filled)} />
      <p className="quiet">Integrate has the same for Fastify, Hono and Next.</p>
    </details>
  );
};
