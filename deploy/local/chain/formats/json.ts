// ES2026 "JSON.parse source text access", in Node since 21; TypeScript's lib lacks it.
type RawJson = { readonly rawJSON: string };
const json = JSON as unknown as {
  rawJSON(text: string): RawJson;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};

type U64 = number | RawJson;

/**
 * A u64 for JSON with exact digits above 2^53 too, because rentEpoch is 2^64 - 1 and kit parses
 * numbers as bigint.
 */
export const u64 = (value: bigint): U64 =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : json.rawJSON(value.toString());

/**
 * JSON.parse that preserves the digits of integers above 2^53, so that the value can be written out
 * again.
 */
export const parseExact = (text: string): unknown =>
  json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? json.rawJSON(source)
      : value,
  );
