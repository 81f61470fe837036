/** All components that pages use. Each file documents its component. */
export { AmountField } from './amount-field.tsx';
export { Button, LinkButton } from './button.tsx';
export { Chart } from './chart.tsx';
export type { Point } from './chart-point.ts';
export { Choices } from './choices.tsx';
export { Code, CodeTabs } from './code.tsx';
export { ConfirmDialog, Dialog, DialogActions } from './dialog.tsx';
export { ErrorNotice } from './error-notice.tsx';
export { Select, Switch, TextField } from './field.tsx';
export { Columns, Empty, Loading, Page, Properties, Row, Section, Stack } from './layout.tsx';
export { Menu } from './menu.tsx';
export { Notice } from './notice.tsx';
export { Ago, Badge, Copyable, Meter, Money, Time } from './show.tsx';
export { Step, Steps } from './steps.tsx';
export { type Column, Table } from './table.tsx';
export { Tabs } from './tabs.tsx';
export { toast } from './toast.tsx';
