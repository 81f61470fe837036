import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from './button.tsx';

/** An action of a menu. `danger`: it cannot be undone. Null and false are omitted. */
type Item = { text: string; onAction: () => void; danger?: boolean } | null | false;

/** Rarer actions of an object, behind one button. It renders nothing if there is none. */
export const Menu = ({
  items,
  children = 'More',
  'aria-label': name,
}: {
  items: readonly Item[];
  children?: string;
  /** The button's name: "More actions: Everyday". */
  'aria-label': string;
}) => {
  const shown = items.filter((item) => item !== null && item !== false);
  if (shown.length === 0) return null;
  return (
    <MenuTrigger>
      <Button size="small" variant="quiet" aria-label={name}>
        {children} <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover" placement="bottom end">
        <AriaMenu aria-label={name}>
          {shown.map(({ text, onAction, danger = false }) => (
            <MenuItem
              key={text}
              className="option"
              data-danger={danger || undefined}
              textValue={text}
              onAction={onAction}
            >
              {text}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
};
