import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components';
import { Link } from 'wouter';

type ButtonProps = Omit<AriaProps, 'children' | 'className' | 'style' | 'isPending'> & {
  children: ReactNode;
  /**
   * `primary`: the main action. `danger`: an action that cannot be undone. `quiet`: next to others.
   * `quiet-danger`: leads to a `danger` action, next to others.
   */
  variant?: 'plain' | 'primary' | 'danger' | 'quiet' | 'quiet-danger';
  size?: 'normal' | 'small';
  /** The label while the action runs ("Signing in…"). The button is disabled meanwhile. */
  busy?: string | false | undefined;
};

/**
 * A button. `busy` replaces its label while the action runs. The button keeps the focus, ignores
 * presses, and screen readers announce the label.
 */
export const Button = ({
  children,
  variant = 'plain',
  size = 'normal',
  busy = false,
  type = 'button',
  onPress,
  ...rest
}: ButtonProps) => {
  const isBusy = typeof busy === 'string';
  return (
    <AriaButton
      {...rest}
      type={isBusy ? 'button' : type}
      onPress={(event) => !isBusy && onPress?.(event)}
      className="button"
      data-variant={variant}
      data-size={size}
      data-pending={isBusy || undefined}
    >
      <span aria-live="polite">{isBusy ? busy : children}</span>
    </AriaButton>
  );
};

/** A link to an address outside of the console that looks like a button. */
export const LinkOut = ({
  to,
  children,
  variant = 'plain',
}: {
  to: string;
  children: ReactNode;
  variant?: 'plain' | 'primary';
}) => (
  <a href={to} className="button" data-variant={variant} data-size="normal">
    {children}
  </a>
);

/**
 * A link to another page of the console that looks like a button. `to` is a path below /console.
 */
export const LinkButton = ({
  to,
  children,
  variant = 'plain',
  size = 'normal',
  'aria-label': name,
}: {
  to: string;
  children: ReactNode;
  variant?: 'plain' | 'primary' | 'quiet';
  size?: 'normal' | 'small';
  'aria-label'?: string;
}) => (
  <Link href={to} className="button" data-variant={variant} data-size={size} aria-label={name}>
    {children}
  </Link>
);
