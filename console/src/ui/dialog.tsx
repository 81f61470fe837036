import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';

/**
 * A dialog over the page. Focus stays inside. Escape and a press outside close it unless `isFixed`,
 * because a key that is shown once must not disappear by accident.
 */
export const Dialog = ({
  title,
  isOpen,
  onClose,
  children,
  wide = false,
  isFixed = false,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  isFixed?: boolean;
}) => (
  <ModalOverlay
    className="overlay"
    isOpen={isOpen}
    onOpenChange={(open) => !open && onClose()}
    isDismissable={!isFixed}
    isKeyboardDismissDisabled={isFixed}
  >
    <Modal className="modal" data-wide={wide || undefined}>
      <AriaDialog className="dialog">
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

/**
 * The buttons of a dialog, in one row: at most two, the main action last. `aside` is another way
 * that few need. It stands above the row.
 */
export const DialogActions = ({ children, aside }: { children: ReactNode; aside?: ReactNode }) => (
  <div className="dialog-actions">
    {aside !== undefined && aside !== false && <div className="dialog-aside">{aside}</div>}
    {children}
  </div>
);

/**
 * Asks for confirmation before an action that cannot be undone. `onConfirm` runs the action. While
 * it runs, the button shows `doing`. The dialog closes on success, and shows the error on failure.
 */
export const ConfirmDialog = ({
  title,
  children,
  confirm,
  doing,
  danger = true,
  isOpen,
  onClose,
  onConfirm,
}: {
  title: string;
  /** What the action does and what it does not undo. */
  children: ReactNode;
  /** The button's label: the action itself, "Remove passkey". */
  confirm: string;
  doing: string;
  danger?: boolean;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
}) => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setError(null);
    onClose();
  };
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close} isFixed={busy}>
      <div>{children}</div>
      {error !== null && <ErrorNotice error={error} />}
      <DialogActions>
        <Button onPress={close} isDisabled={busy}>
          Cancel
        </Button>
        <Button variant={danger ? 'danger' : 'primary'} busy={busy && doing} onPress={() => void act()}>
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
