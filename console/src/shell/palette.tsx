import { useState } from 'react';
import {
  Dialog as AriaDialog,
  Autocomplete,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { groupsOf } from './palette-entries.ts';
import { AREAS } from './routes.ts';

/** The command palette: one field that leads to every page, guide, and object by its id. */
const Palette = ({ onClose }: { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  const open = (to: string) => {
    onClose();
    // Documents are no pages of the console.
    if (to.startsWith('/docs')) location.assign(to);
    else navigate(to);
  };
  return (
    <ModalOverlay
      className="overlay palette"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className="modal">
        <AriaDialog className="palette-box" aria-label="Go to">
          <Autocomplete inputValue={typed} onInputChange={setTyped}>
            <TextField aria-label="Page, guide or id" autoFocus>
              <Input className="field-input" placeholder="Page, guide, stl_…, q_…, transaction" />
            </TextField>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
            <div className="palette-list" tabIndex={0}>
              <Menu
                aria-label="Results"
                onAction={(to) => open(String(to))}
                renderEmptyState={() => <p className="quiet">Nothing found. Ids are matched as a whole.</p>}
              >
                {groupsOf(typed, AREAS).map(({ heading, entries }) => (
                  <MenuSection key={heading} id={heading}>
                    <Header className="palette-heading">{heading}</Header>
                    {entries.map(({ to, text, note }) => (
                      <MenuItem key={to} id={to} className="option" textValue={text}>
                        {text}
                        {note !== undefined && <code className="palette-note">{note}</code>}
                      </MenuItem>
                    ))}
                  </MenuSection>
                ))}
              </Menu>
            </div>
          </Autocomplete>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
};
export default Palette;
