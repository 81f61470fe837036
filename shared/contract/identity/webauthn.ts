import { z } from 'zod';

/** WebAuthn, in the JSON form of PublicKeyCredential.toJSON(). */

/**
 * An attestation object without attestation has about 300 bytes. One with a certificate chain is
 * refused in any case.
 */
const bytes = (description: string, max = 4096) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url')
    .meta({ description: `${description}, base64url`, examples: ['Zk3mQ9'] });
const keyType = z.literal('public-key').describe('Kind of the credential');
const credential = {
  id: bytes('Id of the passkey', 1366),
  rawId: bytes('The same id', 1366),
  type: keyType,
  // Results of extensions are accepted and dropped: they belong to the client (a PRF's output is
  // its secret).
  clientExtensionResults: z.record(z.string().max(64), z.unknown()).describe('Accepted and not used'),
  authenticatorAttachment: z
    .enum(['platform', 'cross-platform'])
    .nullish()
    .describe('Whether the passkey is part of the device'),
};
const clientData = bytes('What the browser has signed');
const transport = z
  .string()
  .regex(/^[a-z-]{1,32}$/)
  .meta({ examples: ['internal'] });
export const Registration = z
  .strictObject({
    ...credential,
    response: z
      .strictObject({
        clientDataJSON: clientData,
        attestationObject: bytes('The attestation object, which has the public key', 16384),
        authenticatorData: bytes('Accepted and not used').optional(),
        transports: z.array(transport).max(8).optional().describe('How the passkey can be reached'),
        publicKey: bytes('Accepted and not used').optional(),
        publicKeyAlgorithm: z
          .int()
          .min(-65536)
          .max(65536)
          .optional()
          .meta({ description: 'Accepted and not used', examples: [-7] }),
      })
      .describe('The new passkey’s answer'),
  })
  .meta({ id: 'PasskeyRegistration' });
export const Assertion = z
  .strictObject({
    ...credential,
    response: z
      .strictObject({
        clientDataJSON: clientData,
        authenticatorData: bytes('What the authenticator has signed'),
        signature: bytes('The signature'),
        userHandle: bytes('The account, as the passkey knows it', 128).nullish(),
      })
      .describe('The passkey’s answer'),
  })
  .meta({ id: 'PasskeyAssertion' });

/** A known passkey in the options of a browser call. */
export const Descriptor = z
  .strictObject({
    id: z.string().meta({ description: 'Id of the passkey, base64url', examples: ['Zk3mQ9'] }),
    type: keyType,
    transports: z
      .array(z.string())
      .optional()
      .meta({ description: 'How the passkey can be reached', examples: [['internal']] }),
  })
  .meta({ id: 'PasskeyDescriptor' });
const challenge = z.string().meta({ description: 'The value to sign, base64url', examples: ['Zk3mQ9'] });
const timeout = z.int().describe('Milliseconds that the person has');
/** The options of navigator.credentials.get. */
export const PasskeyOptions = z
  .strictObject({
    challenge,
    rpId: z.string().meta({ description: 'The domain of the passkeys', examples: ['quittance.example'] }),
    timeout,
    userVerification: z.literal('required').describe('The person must unlock the passkey'),
  })
  .meta({ id: 'PasskeyOptions' });

/** The options of navigator.credentials.create. */
export const PasskeyRegistrationOptions = z
  .strictObject({
    challenge,
    rp: z
      .strictObject({
        id: z.string().meta({ description: 'The domain of the passkeys', examples: ['quittance.example'] }),
        name: z.string().meta({ description: 'Its name, for people', examples: ['Quittance'] }),
      })
      .describe('Where the passkey will sign in'),
    user: z
      .strictObject({
        id: z.string().meta({ description: 'The account, base64url', examples: ['Zk3mQ9'] }),
        name: z.string().meta({ description: 'The mail address', examples: ['ada@example.com'] }),
        displayName: z.string().meta({ description: 'The name to show', examples: ['ada@example.com'] }),
      })
      .describe('Whom the passkey will sign in'),
    pubKeyCredParams: z
      .array(z.strictObject({ type: keyType, alg: z.int().describe('Number of the algorithm (COSE)') }))
      .describe('The accepted algorithms'),
    timeout,
    excludeCredentials: z.array(Descriptor).describe('The passkeys that the account has already'),
    authenticatorSelection: z
      .strictObject({
        residentKey: z.literal('required').describe('The passkey must know the account'),
        requireResidentKey: z.literal(true).describe('The same, for old browsers'),
        userVerification: PasskeyOptions.shape.userVerification,
      })
      .describe('What the authenticator must offer'),
    attestation: z.literal('none').describe('The make of the authenticator is not asked for'),
    extensions: z
      .strictObject({ credProps: z.literal(true).describe('Whether the passkey knows the account') })
      .describe('What the browser reports besides'),
  })
  .meta({ id: 'PasskeyRegistrationOptions' });
