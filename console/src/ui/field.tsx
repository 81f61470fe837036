import type { ReactNode } from 'react';
import {
  Select as AriaSelect,
  Switch as AriaSwitch,
  TextField as AriaTextField,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
  TextArea,
  type TextFieldProps,
} from 'react-aria-components';

type Common = { label: string; hint?: ReactNode; error?: string | null | undefined };

/**
 * A text field with its label. `error` is shown below and announced. `suffix` follows the input
 * ("USDC"). `numeric` aligns digits to the right. `lines` makes it a text area.
 */
export const TextField = ({
  label,
  hint,
  error,
  suffix,
  numeric = false,
  lines,
  placeholder,
  ...rest
}: Common &
  Omit<TextFieldProps, 'children' | 'className' | 'style' | 'isInvalid'> & {
    suffix?: string;
    numeric?: boolean;
    lines?: number;
    placeholder?: string;
  }) => (
  <AriaTextField {...rest} isInvalid={typeof error === 'string'} className="field">
    <Label className="field-label">{label}</Label>
    <span className="field-suffixed">
      {lines === undefined ? (
        <Input
          className="field-input"
          data-numeric={numeric || undefined}
          inputMode={numeric ? 'decimal' : undefined}
          placeholder={placeholder}
        />
      ) : (
        <TextArea className="field-input" rows={lines} placeholder={placeholder} />
      )}
      {suffix !== undefined && <span className="quiet">{suffix}</span>}
    </span>
    {hint !== undefined && (
      <Text slot="description" className="field-hint">
        {hint}
      </Text>
    )}
    <FieldError className="field-error">{error}</FieldError>
  </AriaTextField>
);

/** A single choice. `options` are pairs of value and label. `onChange` gets the value. */
export const Select = <T extends string>({
  label,
  hint,
  error,
  options,
  value,
  onChange,
  isDisabled,
}: Common & {
  options: readonly (readonly [value: T, text: string])[];
  value: T | null;
  onChange: (value: T) => void;
  isDisabled?: boolean;
}) => (
  <AriaSelect
    className="field"
    value={value}
    onChange={(key) => onChange(key as T)}
    isDisabled={isDisabled}
    isInvalid={typeof error === 'string'}
    placeholder="Choose one"
  >
    <Label className="field-label">{label}</Label>
    <Button className="select-button">
      <SelectValue />
      <span aria-hidden="true">▾</span>
    </Button>
    {hint !== undefined && (
      <Text slot="description" className="field-hint">
        {hint}
      </Text>
    )}
    <FieldError className="field-error">{error}</FieldError>
    <Popover className="popover">
      <ListBox>
        {options.map(([key, text]) => (
          <ListBoxItem key={key} id={key} className="option" textValue={text}>
            {text}
          </ListBoxItem>
        ))}
      </ListBox>
    </Popover>
  </AriaSelect>
);

/** A switch that takes effect at once. `hint` explains what the "on" state changes. */
export const Switch = ({
  children,
  hint,
  ...rest
}: {
  children: string;
  hint?: string;
  isSelected: boolean;
  onChange: (on: boolean) => void;
  isDisabled?: boolean;
}) => (
  <AriaSwitch {...rest} className="switch">
    <span className="switch-track" aria-hidden="true" />
    <span>
      {children}
      {hint !== undefined && <span className="quiet"> — {hint}</span>}
    </span>
  </AriaSwitch>
);
