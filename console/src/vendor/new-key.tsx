import { useSession } from '../session/use-session.tsx';
import { Button, Copyable, Dialog, DialogActions, Notice, Time } from '../ui/index.ts';

/** The answer of a call that creates a key. A repeat after a lost answer has no key. */
type KeyAnswer = { api_key: string } | { secret_already_shown: true };

/** Shows a key once. Only the button closes it, so that it does not disappear by accident. */
export const NewKeyDialog = ({
  title,
  answer,
  previousEnds = null,
  onClose,
}: {
  title: string;
  answer: KeyAnswer;
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
            Your server sends it as its Bearer credential in the <strong>{environment}</strong> environment.
            Store it with your secrets: whoever has it can quote and redeem in your name.
          </p>
          <Copyable block label="the key" text={answer.api_key} />
          <Notice tone="wait" title="It is shown only once">
            Only its hash is stored. A lost key must be replaced by a new one.
          </Notice>
        </>
      ) : (
        <Notice tone="wait" title="The key was created, and the answer with it was lost">
          It is not stored, so it cannot be shown again. Rotate the key to get a new one.
        </Notice>
      )}
      {previousEnds !== null && (
        <p>
          The previous key works until <Time at={previousEnds} />.
        </p>
      )}
      <DialogActions>
        <Button variant="primary" onPress={onClose}>
          I have stored it
        </Button>
      </DialogActions>
    </Dialog>
  );
};
