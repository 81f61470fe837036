/** All that a page is written with; each component says at its own place how. */
export { Button, LinkButton } from './button.tsx';
export { Chart, type Point } from './chart.tsx';
export { Choices } from './choices.tsx';
export { Code } from './code.tsx';
export { ConfirmDialog, Dialog, DialogActions } from './dialog.tsx';
export { ErrorNotice, Notice } from './error-notice.tsx';
export { Select, Switch, TextField } from './field.tsx';
export { Columns, Empty, Properties, Loading, Page, Row, Section, Stack } from './layout.tsx';
export { Badge, Copyable, Meter, Money, Time } from './show.tsx';
export { type Column, Table } from './table.tsx';
export { Tabs } from './tabs.tsx';
export { toast } from './toast.tsx';
