import { z } from 'zod';
import { Timestamp } from '../../../shared/contract/primitives.ts';

/** What an owner is told by mail about their own keys. Kept until it is sent; nothing secret may stand in it. */
const event = <Kind extends string>(kind: Kind) =>
  z.strictObject({ kind: z.literal(kind), label: z.string(), at: Timestamp });

export const Notice = z.discriminatedUnion('kind', [
  event('passkey_added'),
  event('passkey_removed'),
  event('passkey_copied'),
  event('key_mails_off'),
]);
export type Notice = z.infer<typeof Notice>;

/** Sent whatever the settings say: an attacker who turns the mails off first must not go unseen. */
export const isAlarm = ({ kind }: Notice): boolean => kind === 'passkey_copied' || kind === 'key_mails_off';

type Words = { subject: string; sentences: readonly string[] };
const OTHERWISE = 'If this was not you, sign in, remove what you do not know and end all other sign-ins.';

/** Subject and sentences of the mail. */
export const noticeWords = ({ kind, label, at }: Notice): Words => {
  const when = `${at.slice(0, 16).replace('T', ' ')} UTC`;
  switch (kind) {
    case 'passkey_added':
      return {
        subject: 'A passkey was added to your account',
        sentences: [
          `The passkey "${label}" was added on ${when}. It can sign in to your account.`,
          OTHERWISE,
        ],
      };
    case 'passkey_removed':
      return {
        subject: 'A passkey was removed from your account',
        sentences: [`The passkey "${label}" was removed on ${when}. It signs nobody in any more.`, OTHERWISE],
      };
    case 'passkey_copied':
      return {
        subject: 'A sign-in with your passkey was refused',
        sentences: [
          `On ${when} somebody used the passkey "${label}" with a counter that went back. That happens when a ` +
            'passkey was copied. The sign-in was refused.',
          'If you restored a device or a key from a backup, remove this passkey and add it again. Otherwise remove it now.',
        ],
      };
    case 'key_mails_off':
      return {
        subject: 'Mails about your keys were turned off',
        sentences: [
          `On ${when} the mails about new and removed keys and passkeys were turned off.`,
          OTHERWISE,
        ],
      };
  }
};
