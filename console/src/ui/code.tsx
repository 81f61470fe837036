import { useState } from 'react';
import { Button } from './button.tsx';

/**
 * Lines of code, a request or an answer, as they are: they scroll instead of breaking, also by keyboard. `copy` is what the
 * button copies where that is more than is shown (a secret that the page covers); null: no button.
 */
export const Code = ({
  text,
  label,
  copy = text,
}: {
  text: string;
  /** What it is, above it and for the button's name. */
  label: string;
  copy?: string | null;
}) => {
  const [said, setSaid] = useState<string | null>(null);
  const take = async () => {
    const copied = await navigator.clipboard?.writeText(copy ?? '').then(
      () => true,
      () => false,
    );
    setSaid(copied === true ? 'Copied' : 'Select and copy it');
    setTimeout(() => setSaid(null), 2000);
  };
  return (
    <figure className="code">
      <figcaption>
        <span className="quiet">{label}</span>
        {copy !== null && (
          <Button size="small" variant="quiet" aria-label={`Copy: ${label}`} onPress={() => void take()}>
            {said ?? 'Copy'}
          </Button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
};
